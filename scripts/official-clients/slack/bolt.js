// Whole apps on Slack's own framework: over Socket Mode, and over HTTP, where the
// framework checks the stand-in's signatures.

import assert from 'node:assert/strict';
import { claim } from '../lib/claim.js';
import { boltApp, httpApp } from '../lib/slack.js';

/** Resolves with what a listener of a Bolt app gets. */
const once = register => new Promise(resolve => register(async args => resolve(args)));

claim('a mention is answered in its thread, and the app does not hear itself', {}, async fake => {
  const app = boltApp(fake);
  let heard = 0;
  app.message(async () => heard++);
  app.event('app_mention', async ({ event, say }) => {
    await say({ text: `you said: ${event.text}`, thread_ts: event.ts });
  });
  await app.start();
  const root = await fake.act('say', { Room: fake.channel, User: fake.alice, Text: `<@${fake.bot}> hello` });
  const posts = await fake.until('the answer', async () => {
    const { posts } = await fake.state({ Room: fake.channel });
    return posts?.length && posts;
  });
  assert.equal(posts[0].thread_ts, root);
  assert.equal(posts[0].text, `you said: <@${fake.bot}> hello`);
  await fake.until('all acknowledgements', async () => (await fake.state()).events.every(e => e.Acked));
  assert.equal(heard, 1);
});

claim(
  'a slash command is answered at its response URL',
  { lies: { 'closed-response-url': /answer did not come/ } },
  async fake => {
    const app = boltApp(fake);
    app.command('/standin', async ({ ack, respond, command }) => {
      await ack();
      await respond({ text: `did ${command.text}`, response_type: 'in_channel' });
    });
    await app.start();
    await fake.act('slash', { Room: fake.channel, User: fake.alice, Command: '/standin', Text: 'status' });
    await fake.until('the answer', async () => (await fake.state({ Room: fake.channel })).seen === 'did status');
  },
);

claim('a choice of a menu reaches its action', {}, async fake => {
  const app = boltApp(fake);
  const chosen = once(listener => app.action('model', async args => (await args.ack(), listener(args))));
  await app.start();
  const option = (text, value) => ({ text: { type: 'plain_text', text }, value });
  const { ts } = await app.client.chat.postMessage({
    channel: fake.channel,
    text: 'Which?',
    blocks: [
      {
        type: 'actions',
        block_id: 'picker',
        elements: [
          {
            type: 'static_select',
            action_id: 'model',
            placeholder: { type: 'plain_text', text: 'Model' },
            options: [option('A', 'a'), option('B', 'b')],
          },
        ],
      },
    ],
  });
  await fake.act('press', { Room: fake.channel, TS: ts, User: fake.alice, N: 1 });
  const { action, body } = await fake.within('the action', chosen);
  assert.equal(action.selected_option.value, 'b');
  assert.equal(body.user.id, fake.alice);
});

claim(
  'over HTTP, events are signed so that the framework believes them',
  {
    flags: ['-resend', '200ms'],
    lies: {
      'no-signature': /message did not come/,
      'wrong-signature': /message did not come/,
      'late-stamp': /message did not come/,
    },
  },
  async fake => {
    const { app, url } = await httpApp(fake);
    const heard = once(listener => app.message(listener));
    await fake.act('webhook', { Target: url });
    const ts = await fake.act('say', { Room: fake.dm, User: fake.alice, Text: 'over http' });
    const { event, context } = await fake.within('message', heard);
    assert.equal(event.ts, ts);
    assert.equal(context.retryNum, undefined);
    await fake.until('the acknowledgement', async () => (await fake.state()).events[0].Acked);
  },
);

claim('over HTTP, the address is verified first', { lies: { 'wrong-signature': /401/ } }, async fake => {
  const { url } = await httpApp(fake);
  await fake.act('webhook', { Target: url });
  const [status, body] = await fake.act('verify', { Text: 'a challenge' });
  assert.deepEqual([status, JSON.parse(body || '{}')], [200, { challenge: 'a challenge' }]);
});

claim('over HTTP, commands and buttons come as forms', {}, async fake => {
  const { app, url } = await httpApp(fake);
  const used = once(listener => app.command('/standin', async args => (await args.ack(), listener(args))));
  const pressed = once(listener => app.action('yes', async args => (await args.ack(), listener(args))));
  await fake.act('webhook', { Target: url });
  await fake.act('slash', { Room: fake.channel, User: fake.alice, Command: '/standin', Text: 'a & b' });
  assert.equal((await fake.within('the command', used)).command.text, 'a & b');
  const { ts } = await app.client.chat.postMessage({
    channel: fake.channel,
    text: 'Sure?',
    blocks: [
      {
        type: 'actions',
        elements: [{ type: 'button', action_id: 'yes', value: 'y', text: { type: 'plain_text', text: 'Yes' } }],
      },
    ],
  });
  await fake.act('press', { Room: fake.channel, TS: ts, User: fake.alice, N: 0 });
  assert.equal((await fake.within('the press', pressed)).action.value, 'y');
});

claim(
  'over HTTP, a repeat is counted',
  { flags: ['-resend', '200ms'], lies: { 'no-retry-num': /is counted/ } },
  async fake => {
    const { app, url } = await httpApp(fake, { processBeforeResponse: true });
    app.error(async error => {
      throw error;
    }); // the framework answers 500 then
    const tries = [];
    app.message(async ({ context }) => {
      tries.push(context.retryNum);
      if (tries.length === 1) throw new Error('not this time');
    });
    await fake.act('webhook', { Target: url });
    await fake.act('say', { Room: fake.dm, User: fake.alice, Text: 'again' });
    await fake.until('the repeat', () => tries.length === 2);
    assert.deepEqual(tries, [undefined, 1], 'the repeat is counted');
  },
);
