// The Web API, as Slack's own client sees the stand-in.

import assert from 'node:assert/strict';
import { claim } from '../lib/claim.js';
import { webClient } from '../lib/slack.js';

/** What the client makes of ok: false with a code. */
const refused = code => error => {
  assert.deepEqual([error.code, error.data?.error], ['slack_webapi_platform_error', code]);
  return true;
};

claim(
  'auth.test says who the bot is and what it may do',
  { lies: { 'no-scopes': /the scopes/, 'never-ok': /platform error|API error/i } },
  async fake => {
    const who = await webClient(fake).auth.test();
    assert.equal(who.user_id, fake.bot);
    assert.match(who.bot_id, /^B/);
    assert.ok(who.response_metadata?.scopes?.includes('chat:write'), 'the scopes');
  },
);

claim(
  'a token that is none is refused by name',
  { lies: { 'always-ok': /Missing expected rejection/, 'nameless-error': /invalid_auth/ } },
  async fake => {
    await assert.rejects(webClient({ api: fake.api, botToken: 'xoxb-0' }).auth.test(), refused('invalid_auth'));
  },
);

claim(
  'a post stands in its thread with blocks and metadata, and can be changed and taken away',
  { lies: { 'post-without-channel': /channel/, 'post-without-ts': /ts|thread|message/ } },
  async fake => {
    const web = webClient(fake);
    const root = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: 'a question' });
    const metadata = { event_type: 'standin_delivery', event_payload: { id: 'delivery-1' } };
    const blocks = [{ type: 'markdown', text: '**bold** answer' }];
    const posted = await web.chat.postMessage({
      channel: fake.channel,
      thread_ts: root,
      text: 'answer',
      blocks,
      metadata,
    });
    assert.equal(posted.channel, fake.channel, 'the answer names the channel');
    assert.equal(posted.message.ts, posted.ts, 'the answer names the ts');

    const thread = await web.conversations.replies({ channel: posted.channel, ts: root, include_all_metadata: true });
    assert.deepEqual(
      thread.messages.map(m => m.ts),
      [root, posted.ts],
    );
    assert.deepEqual(thread.messages[1].metadata, metadata);
    assert.deepEqual(thread.messages[1].blocks, blocks);
    const plain = await web.conversations.replies({ channel: posted.channel, ts: root });
    assert.equal(plain.messages[1].metadata, undefined);

    const changed = await web.chat.update({ channel: posted.channel, ts: posted.ts, text: 'better answer' });
    assert.equal(changed.text, 'better answer');
    await web.chat.delete({ channel: posted.channel, ts: posted.ts });
    await assert.rejects(
      web.chat.update({ channel: posted.channel, ts: posted.ts, text: 'late' }),
      refused('message_not_found'),
    );
  },
);

claim('a long thread comes in pages', { lies: { 'no-next-cursor': /pages/ } }, async fake => {
  const web = webClient(fake);
  const root = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: 'root' });
  for (const text of ['one', 'two', 'three'])
    await web.chat.postMessage({ channel: fake.channel, thread_ts: root, text });
  const pages = [];
  for await (const page of web.paginate('conversations.replies', { channel: fake.channel, ts: root, limit: 2 })) {
    pages.push(page.messages.map(m => m.text));
  }
  assert.deepEqual(
    pages,
    [
      ['root', 'one'],
      ['two', 'three'],
    ],
    'all pages',
  );
});

claim('people, groups and conversations can be looked up', {}, async fake => {
  const web = webClient(fake);
  assert.equal((await web.users.info({ user: fake.alice })).user.profile.display_name, 'Alice');
  await assert.rejects(web.users.info({ user: 'U0NOBODY' }), refused('user_not_found'));
  assert.equal((await web.conversations.info({ channel: fake.dm })).channel.is_im, true);
  assert.ok((await web.conversations.members({ channel: fake.channel })).members.includes(fake.alice));
  assert.equal((await web.conversations.open({ users: fake.alice })).channel.id, fake.dm);
  assert.deepEqual((await web.usergroups.users.list({ usergroup: 'S0BOTS' })).users, [fake.bot]);
});

claim('a whisper is heard by one, and a status line belongs to a thread', {}, async fake => {
  const web = webClient(fake);
  const thread_ts = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: 'well?' });
  await web.chat.postEphemeral({ channel: fake.channel, user: fake.alice, text: 'only you' });
  await assert.rejects(
    web.chat.postEphemeral({ channel: fake.channel, user: 'U0NOBODY', text: 'x' }),
    refused('user_not_in_channel'),
  );
  const { messages } = await web.conversations.history({ channel: fake.channel });
  assert.deepEqual(
    messages.map(m => m.text),
    ['well?'],
  );
  await web.assistant.threads.setStatus({ channel_id: fake.channel, thread_ts, status: 'is typing…' });
  await assert.rejects(
    web.assistant.threads.setStatus({ channel_id: fake.channel, thread_ts: '1.000000', status: 'x' }),
    refused('invalid_thread_ts'),
  );
});

claim('a reaction stands once', {}, async fake => {
  const web = webClient(fake);
  const timestamp = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: 'hi' });
  const eyes = { channel: fake.channel, timestamp, name: 'eyes' };
  await web.reactions.add(eyes);
  await assert.rejects(web.reactions.add(eyes), refused('already_reacted'));
  await web.reactions.remove(eyes);
  await assert.rejects(web.reactions.remove(eyes), refused('no_reaction'));
});

claim('a file goes up in three steps and comes down with the token', { lies: { 'no-file-id': /\S/ } }, async fake => {
  const web = webClient(fake);
  const root = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: 'send it' });
  const done = await web.files.uploadV2({
    channel_id: fake.channel,
    thread_ts: root,
    filename: 'notes.txt',
    title: 'Notes',
    initial_comment: 'here',
    file: Buffer.from('line one\n'),
  });
  const [sent] = done.files[0].files;
  assert.equal(sent.title, 'Notes');
  const thread = await web.conversations.replies({ channel: fake.channel, ts: root });
  const { text, files, subtype } = thread.messages[1];
  assert.deepEqual([text, subtype, files[0].id, files[0].size], ['here', 'file_share', sent.id, 9]);
  const bare = await fetch(files[0].url_private, { redirect: 'manual' });
  assert.equal(bare.status, 302);
  const withToken = await fetch(files[0].url_private, { headers: { Authorization: `Bearer ${fake.botToken}` } });
  assert.equal(await withToken.text(), 'line one\n');
});

claim(
  'a 429 says how long to wait, and the client waits that long',
  { lies: { 'no-retry-after': /valid timeout/ } },
  async fake => {
    const web = webClient(fake);
    const waits = [];
    web.on('rate_limited', seconds => waits.push(seconds));
    await fake.act('fail', { Method: 'chat.postMessage', Fault: { Status: 429, RetryAfter: '1' } });
    await fake.within('the post', web.chat.postMessage({ channel: fake.channel, text: 'patient' }));
    assert.deepEqual(waits, [1]);
    const { calls, posts } = await fake.state({ Method: 'chat.postMessage', Room: fake.channel });
    assert.deepEqual(
      calls.map(c => c.Error),
      ['429', ''],
    );
    assert.ok(Date.parse(calls[1].At) - Date.parse(calls[0].At) >= 1000, 'it waited');
    assert.equal(posts.length, 1);
  },
);

claim('text is streamed into one message', {}, async fake => {
  const web = webClient(fake);
  const root = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: 'tell me' });
  const { ts } = await web.chat.startStream({ channel: fake.channel, thread_ts: root, markdown_text: 'Once' });
  await web.chat.appendStream({ channel: fake.channel, ts, markdown_text: ' upon' });
  await assert.rejects(web.chat.update({ channel: fake.channel, ts, text: 'no' }), refused('streaming_state_conflict'));
  await web.chat.stopStream({ channel: fake.channel, ts, markdown_text: ' a time' });
  const { messages } = await web.conversations.replies({ channel: fake.channel, ts: root });
  assert.equal(messages[1].text, 'Once upon a time');
  await assert.rejects(
    web.chat.appendStream({ channel: fake.channel, ts, markdown_text: '!' }),
    refused('message_not_in_streaming_state'),
  );
});
