// Messages and the REST API, as discord.js sees the stand-in.

import assert from 'node:assert/strict';
import { Events, MessageFlags, RESTEvents } from 'discord.js';
import { claim } from '../lib/claim.js';
import { readyClient } from '../lib/discord.js';

/** The calls to the API so far whose method and path begin so, with their times. */
async function calls(fake, prefix) {
  return (await fake.state()).journal
    .filter(e => e.What === 'rest' && e.Text.startsWith(prefix))
    .map(e => ({ status: Number(e.Text.split(' ').at(-1)), at: Date.parse(e.At), body: e.Body }));
}

claim(
  'a message of a server and one of a direct chat come with all that is theirs',
  { lies: { 'message-without-member': /is a member/, 'message-without-mentions': /names the bot/ } },
  async fake => {
    const client = await readyClient(fake);
    const [inServer, direct] = [
      fake.event(client, Events.MessageCreate, m => m.content.startsWith('<@')),
      fake.event(client, Events.MessageCreate, m => m.content === 'psst'),
    ];
    const id = await fake.act('say', { User: 'alice', Room: 'general', Text: '@bot hello' });
    await fake.act('say', { User: 'alice', Room: 'dm', Text: 'psst' });
    const one = await inServer;
    assert.equal(one.id, id);
    assert.equal(one.guildId, fake.guild);
    assert.equal(one.channelId, fake.channel);
    assert.equal(one.author.username, 'alice');
    assert.equal(one.author.bot, false);
    assert.equal(one.member?.user.id, one.author.id, 'its author is a member');
    assert.ok(one.mentions.users.has(fake.bot), 'it names the bot');
    assert.ok(Math.abs(one.createdTimestamp - Date.now()) < 60_000);
    const two = await direct;
    assert.equal(two.guildId, null);
    assert.ok(two.channel.isDMBased());
    assert.equal(two.author.id, one.author.id);
  },
);

claim(
  'an answer refers to its question, and a nonce that is enforced posts once',
  { lies: { 'no-reference': /refers/, 'no-nonce': /nonce/, 'repeat-posts-anew': /once/ } },
  async fake => {
    const client = await readyClient(fake);
    const asked = fake.event(client, Events.MessageCreate);
    await fake.act('say', { User: 'alice', Room: 'general', Text: '@bot hello' });
    const question = await asked;
    const draft = {
      content: 'hi',
      nonce: 'delivery-0123456789',
      enforceNonce: true,
      allowedMentions: { repliedUser: false },
    };
    const answer = await question.reply(draft);
    assert.equal(answer.reference?.messageId, question.id, 'the answer refers to the question');
    assert.equal(answer.nonce, 'delivery-0123456789', 'the nonce comes back');
    const again = await question.reply(draft);
    assert.equal(again.id, answer.id, 'it is posted once');
    assert.equal((await fake.state({ Room: 'general' })).posts.length, 1);
  },
);

claim(
  'a reply of a person comes with what it answers',
  { lies: { 'reply-to-nothing': /what is answered/ } },
  async fake => {
    const client = await readyClient(fake);
    const channel = client.channels.cache.get(fake.channel);
    const { id } = await channel.send('a statement');
    const heard = fake.event(client, Events.MessageCreate, m => m.content === 'really?');
    await fake.act('reply', { User: 'alice', Room: 'general', Message: id, Text: 'really?' });
    const reply = await heard;
    assert.equal(reply.reference?.messageId, id, 'what is answered is named');
    assert.ok(reply.mentions.has(fake.bot), 'its author is named');
    assert.equal((await reply.fetchReference()).content, 'a statement');
  },
);

claim('an answer to what is gone is refused, unless it need not be there', {}, async fake => {
  const client = await readyClient(fake);
  const channel = client.channels.cache.get(fake.channel);
  const gone = { messageReference: '1', failIfNotExists: true };
  await assert.rejects(channel.send({ content: 'x', reply: gone }), { code: 50035 });
  const sent = await channel.send({ content: 'x', reply: { ...gone, failIfNotExists: false } });
  assert.equal(sent.reference, null);
});

claim(
  'what is too long is refused with the field that is',
  { lies: { 'no-error-tree': /BASE_TYPE_MAX_LENGTH/ } },
  async fake => {
    const client = await readyClient(fake);
    await assert.rejects(client.channels.cache.get(fake.channel).send('x'.repeat(2001)), error => {
      assert.equal(error.code, 50035);
      assert.match(error.message, /content\[BASE_TYPE_MAX_LENGTH\]/);
      return true;
    });
  },
);

claim('a post is changed, reacted to and taken away', {}, async fake => {
  const client = await readyClient(fake);
  const channel = client.channels.cache.get(fake.channel);
  await channel.sendTyping();
  const post = await channel.send({ content: 'draft', flags: MessageFlags.SuppressEmbeds });
  const changed = fake.event(client, Events.MessageUpdate, (_, now) => now.content === 'final');
  await post.edit('final');
  await changed;
  await post.react('👀');
  await post.reactions.resolve('👀')?.users.remove(client.user.id);
  const removed = fake.event(client, Events.MessageDelete);
  await post.delete();
  assert.equal((await removed).id, post.id);
  await assert.rejects(channel.messages.fetch(post.id), { code: 10008 });
});

claim('a file goes up and comes down', {}, async fake => {
  const client = await readyClient(fake);
  const channel = client.channels.cache.get(fake.channel);
  const sent = await channel.send({
    content: 'here',
    files: [{ attachment: Buffer.from('line one\n'), name: 'notes.txt' }],
  });
  const [file] = [...sent.attachments.values()];
  assert.equal(file.name, 'notes.txt');
  assert.equal(file.size, 9);
  assert.equal(await (await fetch(file.url)).text(), 'line one\n');
});

claim(
  'a thread has the id of the message that it hangs on, and there is one',
  { lies: { 'thread-of-own-id': /the message's id/ } },
  async fake => {
    const client = await readyClient(fake);
    const root = await client.channels.cache.get(fake.channel).send('let us talk');
    const thread = await root.startThread({ name: 'talk', autoArchiveDuration: 60 });
    assert.equal(thread.id, root.id, "the thread has the message's id");
    assert.equal(thread.parentId, fake.channel);
    assert.equal(thread.ownerId, fake.bot);
    assert.equal(thread.autoArchiveDuration, 60);
    await thread.send('in here');
    await assert.rejects(root.startThread({ name: 'again' }), { code: 160004 });
    await thread.setArchived(true);
    assert.equal(thread.archived, true);
  },
);

claim(
  'the limit of a route is announced, so that a client never runs into it',
  { flags: ['-limit', 'POST /channels/:id/messages 2 1s'], lies: { 'limit-unannounced': /no call was refused/ } },
  async fake => {
    const client = await readyClient(fake);
    const channel = client.channels.cache.get(fake.channel);
    for (const text of ['one', 'two', 'three']) await channel.send(text);
    const made = await calls(fake, 'POST /channels');
    assert.deepEqual(
      made.map(c => c.status),
      [200, 200, 200],
      'no call was refused',
    );
    assert.ok(made[2].at - made[0].at >= 900, 'the third one waited');
  },
);

claim(
  'a 429 of a route says how long to wait, in seconds',
  { lies: { 'wait-in-milliseconds': /the post did not come/ } },
  async fake => {
    const client = await readyClient(fake);
    await fake.act('limit-route', { Text: '/messages', N: 700 });
    await fake.within('the post', client.channels.cache.get(fake.channel).send('patient'));
    const made = await calls(fake, 'POST /channels');
    assert.deepEqual(
      made.map(c => c.status),
      [429, 200],
    );
    const waited = made[1].at - made[0].at;
    assert.ok(waited >= 700 && waited < 10_000, `it waited ${waited} ms`);
  },
);

claim('a global 429 stops calls of every route', { lies: { 'global-as-route': /other routes waited/ } }, async fake => {
  const client = await readyClient(fake);
  await fake.act('limit-all', { N: 900 });
  const channel = client.channels.cache.get(fake.channel);
  const limited = fake.event(client.rest, RESTEvents.Response, (_, response) => response.status === 429);
  const post = channel.send('patient');
  await limited;
  await channel.sendTyping();
  await post;
  const [refused] = await calls(fake, `POST /channels/${fake.channel}/messages`);
  const [typing] = await calls(fake, `POST /channels/${fake.channel}/typing`);
  assert.equal(refused.status, 429);
  assert.ok(typing.at - refused.at >= 850, 'other routes waited, too');
});
