// The gateway, as Discord's clients see the stand-in.

import assert from 'node:assert/strict';
import { ChannelType, Events } from 'discord.js';
import { claim } from '../lib/claim.js';
import { clientOf, gatewayClient, readyClient, seen } from '../lib/discord.js';
import { pause } from '../lib/fake.js';

claim(
  'a login ends in READY with the server and its room',
  {
    lies: {
      'hello-as-ack': /clientReady did not come/,
      'no-ready': /clientReady did not come/,
      'no-guild': /the server/,
    },
  },
  async fake => {
    const client = await readyClient(fake);
    assert.equal(client.user.id, fake.bot);
    assert.equal(client.application.id, fake.application);
    const guild = client.guilds.cache.get(fake.guild);
    assert.ok(guild?.available, 'the server is there');
    assert.equal(client.channels.cache.get(fake.channel).type, ChannelType.GuildText);
    await client.destroy();
    await fake.until('the close', async () =>
      (await seen(fake, 'closed')).some(text => text === 'by the client with 1000'),
    );
  },
);

claim('a wrong token is refused', {}, async fake => {
  await assert.rejects(clientOf(fake).login(`${fake.token}x`), /invalid token/i);
});

claim(
  'heartbeats are answered',
  { flags: ['-heartbeat', '1s'], lies: { 'no-heartbeat-ack': /only one socket/ } },
  async fake => {
    const client = await readyClient(fake);
    await fake.until('the heartbeats', async () => (await seen(fake, 'heartbeat')).length >= 2);
    await pause(1200); // past the beat at which an unanswered one would be noticed
    assert.equal((await seen(fake, 'connected')).length, 1, 'only one socket was needed');
    assert.ok(client.ws.ping >= 0);
  },
);

claim('a heartbeat that is asked for comes at once', {}, async fake => {
  await readyClient(fake);
  await fake.act('beat');
  await fake.until('the heartbeat', async () => (await seen(fake, 'heartbeat')).length === 1);
});

claim(
  'after a cut line the session goes on, and what was missed comes, once',
  {
    lies: {
      'no-resumed': /shardResume did not come/,
      'no-replay': /missed/,
      'no-session-id': /shardResume did not come/,
    },
  },
  async fake => {
    const client = await readyClient(fake);
    const texts = [];
    client.on(Events.MessageCreate, message => texts.push(message.content));
    const resumed = fake.event(client, Events.ShardResume);
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'before' });
    await fake.until('the message', () => texts.length === 1);
    await fake.act('drop');
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'missed' });
    await resumed;
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'after' });
    await fake.until('the message after it', () => texts.includes('after'));
    assert.deepEqual(texts, ['before', 'missed', 'after'], 'what was missed came once');
    assert.equal((await seen(fake, 'identify')).length, 1);
  },
);

claim(
  'op 7 leads to a new socket and the same session',
  { lies: { 'reconnect-misnamed': /shardResume did not come/ } },
  async fake => {
    const client = await readyClient(fake);
    const resumed = fake.event(client, Events.ShardResume);
    await fake.act('reconnect');
    await resumed;
    assert.deepEqual([(await seen(fake, 'identify')).length, (await seen(fake, 'resumed')).length], [1, 1]);
  },
);

claim(
  'op 9 that cannot be resumed leads to a new session',
  { lies: { 'invalid-as-resumable': /shardReady did not come/ } },
  async fake => {
    const client = await readyClient(fake);
    const again = fake.event(client, Events.ShardReady);
    await fake.act('invalidate', { On: false });
    await again;
    assert.equal((await seen(fake, 'identify')).length, 2);
    const message = fake.event(client, Events.MessageCreate);
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'still here?' });
    assert.equal((await message).content, 'still here?');
  },
);

claim('op 9 that can be resumed is resumed', {}, async fake => {
  const client = await readyClient(fake);
  const resumed = fake.event(client, Events.ShardResume);
  await fake.act('refuse-resumes', { How: ['retry'] });
  await fake.act('drop');
  await resumed;
  assert.deepEqual([(await seen(fake, 'resume')).length, (await seen(fake, 'resumed')).length], [2, 1]);
});

claim('a sequence that never was ends the session', {}, async fake => {
  const client = await readyClient(fake);
  const again = fake.event(client, Events.ShardReady);
  client.ws.shards.first().sessionInfo.sequence = 1000;
  await fake.act('drop');
  await again;
  assert.ok((await seen(fake, 'closed')).includes('by the server with 4007'));
  assert.equal((await seen(fake, 'identify')).length, 2);
});

claim('a close for good is one', {}, async fake => {
  const client = await readyClient(fake);
  const over = fake.event(client, Events.ShardDisconnect);
  await fake.act('close', { Code: 4014 });
  assert.equal((await over).code, 4014);
});

claim(
  'a compressed stream has the same events under growing numbers, also after a RESUME',
  { lies: { 'torn-stream': /READY did not come/, 'same-sequence': /grow/ } },
  async fake => {
    const gateway = await gatewayClient(fake);
    const events = [];
    gateway.on('dispatch', event => events.push(event));
    const texts = () => events.filter(e => e.t === 'MESSAGE_CREATE').map(e => e.d.content);
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'one' });
    await fake.until('the message', () => texts().length === 1);
    const resumed = fake.event(gateway, 'resumed');
    await fake.act('drop');
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'two' });
    await resumed;
    await fake.until('the missed message', () => texts().includes('two'));
    await fake.act('say', { User: 'alice', Room: 'general', Text: 'three' });
    await fake.until('the last message', () => texts().includes('three'));
    assert.deepEqual(texts(), ['one', 'two', 'three'], 'numbers grow, so nothing comes twice');
    const numbers = events.map(e => e.s);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      'numbers grow',
    );
  },
);
