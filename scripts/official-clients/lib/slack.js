// Slack's own clients, pointed at the stand-in.

import bolt from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';

/** A logger that keeps what it is told instead of printing it. */
export function listener() {
  const lines = [];
  const say = (...text) => lines.push(text.join(' '));
  return { lines, debug: say, info: say, warn: say, error: say, setLevel() {}, setName() {}, getLevel: () => 'debug' };
}

/** A client of the Web API with the bot's token. */
export function webClient(fake, options = {}) {
  return new WebClient(fake.botToken, {
    slackApiUrl: fake.api,
    logger: listener(),
    retryConfig: { retries: 2, minTimeout: 10 },
    ...options,
  });
}

/**
 * A bare client of Socket Mode. It waits its ping time before it connects again,
 * so a short one makes a quick test.
 */
export function socketClient(fake, options = {}) {
  const client = new SocketModeClient({
    appToken: fake.appToken,
    clientPingTimeout: 600,
    logger: listener(),
    clientOptions: { slackApiUrl: fake.api, logger: listener(), retryConfig: { retries: 0 } },
    ...options,
  });
  fake.after(() => client.disconnect());
  return client;
}

/** A Bolt app over Socket Mode, not started yet. */
export function boltApp(fake) {
  const receiver = new bolt.SocketModeReceiver({
    appToken: fake.appToken,
    clientPingTimeout: 600,
    logger: listener(),
    installerOptions: { clientOptions: { slackApiUrl: fake.api } },
  });
  return appOn(fake, receiver);
}

/** A Bolt app over HTTP: it gives the app and the URL that events go to. */
export async function httpApp(fake, options = {}) {
  const receiver = new bolt.HTTPReceiver({ signingSecret: fake.signingSecret, logger: listener(), ...options });
  const app = appOn(fake, receiver);
  const server = await app.start({ port: 0, host: '127.0.0.1' });
  return { app, url: `http://127.0.0.1:${server.address().port}/slack/events` };
}

function appOn(fake, receiver) {
  const app = new bolt.App({
    token: fake.botToken,
    receiver,
    logger: listener(),
    clientOptions: { slackApiUrl: fake.api, logger: listener() },
  });
  app.error(async () => {}); // a refused call shows in the test that made it
  fake.after(() => app.stop());
  return app;
}
