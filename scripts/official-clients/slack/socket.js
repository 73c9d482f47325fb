// Socket Mode, as Slack's own client sees the stand-in.

import assert from 'node:assert/strict';
import { claim } from '../lib/claim.js';
import { pause } from '../lib/fake.js';
import { listener, socketClient, webClient } from '../lib/slack.js';

claim(
  'a socket is greeted',
  { lies: { 'no-hello': /connected did not come/, 'burnt-ticket': /connected did not come/ } },
  async fake => {
    const client = socketClient(fake, { autoReconnectEnabled: false });
    const connected = fake.event(client, 'connected');
    client.start().catch(() => {});
    await connected;
    assert.equal((await fake.state()).connected, 1);
  },
);

claim(
  'both ends ping, and both answer',
  {
    flags: ['-ping', '200ms'],
    lies: { 'no-ping': /ping from Slack did not come/, 'no-pong': /pong from Slack did not come/ },
  },
  async fake => {
    const logger = listener();
    const client = socketClient(fake, { pingPongLoggingEnabled: true, logger });
    await fake.within('connected', client.start());
    const heard = text => () => logger.lines.some(line => line.includes(text));
    await fake.until('ping from Slack', heard('received ping from Slack server'));
    await fake.until('pong from Slack', heard('received pong from Slack server'));
  },
);

claim(
  'a message that names the bot comes as a message and as a mention',
  { lies: { 'no-envelope-id': /envelopes are named/ } },
  async fake => {
    const client = socketClient(fake);
    await fake.within('connected', client.start());
    const both = Promise.all([fake.event(client, 'message'), fake.event(client, 'app_mention')]);
    const ts = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: `<@${fake.bot}> hello` });
    const [message, mention] = await both;
    for (const { body, event, envelope_id, accepts_response_payload } of [message, mention]) {
      assert.equal(typeof envelope_id, 'string', 'envelopes are named');
      assert.equal(accepts_response_payload, false);
      assert.equal(body.type, 'event_callback');
      assert.equal(event.ts, ts);
      assert.equal(event.user, fake.alice);
      assert.equal(event.channel, fake.channel);
      assert.equal(event.text, `<@${fake.bot}> hello`);
    }
    assert.equal(message.event.channel_type, 'channel');
    assert.notEqual(message.body.event_id, mention.body.event_id);
  },
);

claim(
  'what is not acknowledged comes again: same event, new envelope, counted',
  { flags: ['-resend', '300ms'], lies: { 'same-envelope-id': /another envelope/, 'no-retry-attempt': /is counted/ } },
  async fake => {
    const client = socketClient(fake);
    await fake.within('connected', client.start());
    const heard = [];
    client.on('message', message => heard.push(message));
    await fake.act('say', { Room: fake.dm, User: fake.alice, Text: 'once' });
    await fake.until('the repeat', () => heard.length >= 2);
    const [one, two] = heard;
    assert.equal(two.body.event_id, one.body.event_id);
    assert.notEqual(two.envelope_id, one.envelope_id, 'another envelope');
    assert.equal(two.retry_num, 1, 'the repeat is counted');
    assert.equal(two.retry_reason, 'timeout');
    await two.ack();
    await fake.until('the acknowledgement', async () => (await fake.state()).events[0].Acked);
  },
);

claim(
  'what is acknowledged does not come again',
  { flags: ['-resend', '1s'], lies: { 'lost-acks': /came 2 times/ } },
  async fake => {
    const client = socketClient(fake);
    const seen = {};
    client.on('message', async ({ ack, event }) => {
      seen[event.text] = (seen[event.text] ?? 0) + 1;
      await ack();
    });
    await fake.within('connected', client.start());
    await fake.act('say', { Room: fake.dm, User: fake.alice, Text: 'once' });
    await fake.until('the message', () => seen.once);
    await pause(1500); // past the time of a repeat, before that of a second
    assert.equal(seen.once, 1, `it came ${seen.once} times`);
    await fake.act('repeat');
    await fake.until('the repeat that was asked for', () => seen.once === 2);
    assert.equal((await fake.state()).bad, 0);
  },
);

claim(
  'a request to refresh leads to a new socket, and nothing is lost',
  { flags: ['-resend', '500ms'], lies: { 'disconnect-misnamed': /close did not come/ } },
  async fake => {
    const client = socketClient(fake);
    await fake.within('connected', client.start());
    const closed = fake.event(client, 'close');
    const again = fake.event(client, 'connected');
    await fake.act('disconnect', { Reason: 'refresh_requested' });
    await closed;
    const message = fake.event(client, 'message');
    await fake.act('say', { Room: fake.dm, User: fake.alice, Text: 'meanwhile' });
    await again;
    await (await message).ack();
    const state = await fake.state();
    assert.equal(state.opened, 2);
    assert.equal(state.most, 1);
  },
);

claim('a cut line leads to a new socket', {}, async fake => {
  const client = socketClient(fake);
  await fake.within('connected', client.start());
  const again = fake.event(client, 'connected');
  await fake.act('drop');
  await again;
  await fake.until('the second socket', async () => (await fake.state()).connected === 1);
});

claim('a socket that falls silent is left for a new one', {}, async fake => {
  const client = socketClient(fake);
  await fake.within('connected', client.start());
  const again = fake.event(client, 'connected');
  await fake.act('freeze');
  await again;
  assert.equal((await fake.state()).opened, 2);
});

claim('a frame that makes no sense, and an unknown event, do no harm', {}, async fake => {
  const client = socketClient(fake);
  await fake.within('connected', client.start());
  await fake.act('raw-frame', { Frame: '{"type":' });
  const odd = fake.event(client, 'somebody_sneezed');
  await fake.act('event', { Event: { type: 'somebody_sneezed', loudness: 3 } });
  assert.equal((await odd).event.loudness, 3);
});

claim(
  'a slash command wants an answer, and its acknowledgement carries one',
  { lies: { 'command-misnamed': /slash_commands did not come/, 'no-answer-wanted': /wants an answer/ } },
  async fake => {
    const client = socketClient(fake);
    await fake.within('connected', client.start());
    const used = fake.event(client, 'slash_commands');
    await fake.act('slash', { Room: fake.channel, User: fake.alice, Command: '/standin', Text: 'status' });
    const { ack, body, accepts_response_payload } = await used;
    assert.equal(accepts_response_payload, true, 'it wants an answer');
    assert.equal(body.command, '/standin');
    assert.equal(body.text, 'status');
    assert.equal(body.user_id, fake.alice);
    await ack({ text: 'all is well' });
    const acks = await fake.until('the acknowledgement', async () => (await fake.state()).acks);
    assert.equal(acks[0].Payload.text, 'all is well');
  },
);

claim(
  'pressing a button comes as an interaction',
  { lies: { 'press-misnamed': /interactive did not come/ } },
  async fake => {
    const client = socketClient(fake);
    await fake.within('connected', client.start());
    const blocks = [
      {
        type: 'actions',
        block_id: 'row',
        elements: [{ type: 'button', action_id: 'yes', value: '1', text: { type: 'plain_text', text: 'Yes' } }],
      },
    ];
    const posted = await webClient(fake).chat.postMessage({ channel: fake.channel, text: 'Sure?', blocks });
    const pressed = fake.event(client, 'interactive');
    assert.equal(await fake.act('press', { Room: fake.channel, TS: posted.ts, User: fake.alice, N: 0 }), true);
    const { body } = await pressed;
    assert.equal(body.type, 'block_actions');
    assert.equal(body.actions[0].action_id, 'yes');
    assert.equal(body.container.message_ts, posted.ts);
  },
);
