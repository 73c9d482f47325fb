// Discord's clients, pointed at the stand-in: discord.js as a whole, and the
// gateway library below it in its next version, which can compress.

import { CompressionMethod, WebSocketManager } from '@discordjs/ws';
import { REST } from '@discordjs/rest';
import { Client, Events, GatewayIntentBits, Partials } from 'discord.js';

const intents = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.MessageContent,
];

const restOptions = (fake, options) => ({ api: fake.api, version: '10', timeout: fake.patience, ...options });

/** A discord.js client that is not logged in. */
export function clientOf(fake, rest = {}) {
  const client = new Client({
    intents,
    partials: [Partials.Channel, Partials.Message],
    waitGuildTimeout: 4000,
    rest: restOptions(fake, rest),
  });
  client.on(Events.Error, () => {}); // what goes wrong shows in what does not come
  client.on(Events.ShardError, () => {});
  fake.after(() => {
    stay(client.ws._ws);
    return client.destroy();
  });
  return client;
}

/** A discord.js client that is logged in and ready. */
export async function readyClient(fake, rest) {
  const client = clientOf(fake, rest);
  const ready = fake.event(client, Events.ClientReady);
  client.login(fake.token).catch(() => {});
  await ready;
  return client;
}

/** The bare gateway library with zlib-stream, connected. */
export async function gatewayClient(fake) {
  let session = null; // of this manager; by default the library shares it among all of the process
  const rest = new REST(restOptions(fake)).setToken(fake.token);
  const manager = new WebSocketManager({
    token: fake.token,
    intents: intents.reduce((all, bit) => all | bit, 0),
    rest,
    retrieveSessionInfo: () => session,
    updateSessionInfo: (_, now) => {
      session = now;
    },
    compression: CompressionMethod.ZlibNative,
    helloTimeout: fake.patience,
    readyTimeout: fake.patience,
  });
  manager.on('error', () => {});
  manager.on('socketError', () => {});
  fake.after(() => {
    stay(manager);
    return manager.destroy();
  });
  await fake.within('READY', manager.connect());
  return manager;
}

/**
 * Keeps a gateway manager from connecting again. One that is destroyed while it
 * waits for something does, and would go on after its test.
 */
function stay(manager) {
  for (const shard of manager?.strategy.shards.values() ?? []) shard.internalConnect = async () => {};
}

/** What the journal of the stand-in has of a kind. */
export async function seen(fake, what) {
  return (await fake.state()).journal.filter(entry => entry.What === what).map(entry => entry.Text);
}
