// Commands, buttons and menus, as discord.js sees the stand-in.

import assert from 'node:assert/strict';
import { ButtonStyle, ComponentType, Events, InteractionResponseType, MessageFlags, Routes } from 'discord.js';
import { claim } from '../lib/claim.js';
import { readyClient } from '../lib/discord.js';

/** Uses a slash command and gives what discord.js makes of it. */
async function used(fake, client, room = 'general') {
  const come = fake.event(client, Events.InteractionCreate, i => i.isChatInputCommand());
  const id = await fake.act('slash', { User: 'alice', Room: room, Command: 'model', Text: 'default' });
  const interaction = await come;
  assert.equal(interaction.id, id);
  return interaction;
}

const answer = async (fake, interaction) => (await fake.state({ Interaction: interaction.id })).answer;

claim('commands are registered and come back', {}, async fake => {
  const client = await readyClient(fake);
  await client.application.commands.set([{ name: 'model', description: 'which model answers' }]);
  const all = await client.application.commands.fetch();
  assert.deepEqual(
    all.map(c => c.name),
    ['model'],
  );
});

claim(
  'a slash command comes with its text and takes an answer',
  { lies: { 'command-as-press': /interactionCreate did not come/, 'interaction-without-token': /./ } },
  async fake => {
    const client = await readyClient(fake);
    const interaction = await used(fake, client);
    assert.equal(interaction.commandName, 'model');
    assert.equal(interaction.options.getString('text'), 'default');
    assert.equal(interaction.guildId, fake.guild);
    assert.equal(interaction.channelId, fake.channel);
    const { resource } = await interaction.reply({ content: 'set', withResponse: true });
    assert.equal(resource.message.content, 'set');
    assert.deepEqual(await answer(fake, interaction), { text: 'set', private: false, seen: true, kind: 4 });
    interaction.replied = false;
    await assert.rejects(interaction.reply('again'), { code: 40060 });
  },
);

claim('a slash command of a direct chat has no server', {}, async fake => {
  const client = await readyClient(fake);
  const interaction = await used(fake, client, 'dm');
  assert.equal(interaction.inGuild(), false);
  assert.equal(interaction.user.username, 'alice');
  await interaction.reply('here');
});

claim('a private answer is seen by one', { lies: { 'seen-by-all': /is private/ } }, async fake => {
  const client = await readyClient(fake);
  const interaction = await used(fake, client);
  await interaction.reply({ content: 'between us', flags: MessageFlags.Ephemeral });
  const told = await interaction.fetchReply();
  assert.ok(told.flags.has(MessageFlags.Ephemeral), 'the message is private');
  const { posts, private: seen } = await fake.state({ User: 'alice', Room: 'general' });
  assert.deepEqual(
    seen.map(m => m.Content),
    ['between us'],
  );
  assert.equal(posts.filter(m => m.OnlyFor === '').length, 0);
  await assert.rejects(client.channels.cache.get(fake.channel).messages.fetch(told.id), { code: 10008 });
});

claim('an answer that is put off comes later, and others follow it', {}, async fake => {
  const client = await readyClient(fake);
  const interaction = await used(fake, client);
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  assert.equal((await answer(fake, interaction)).seen, false);
  await interaction.editReply('thought about it');
  const more = await interaction.followUp('for all');
  assert.equal(more.flags.has(MessageFlags.Ephemeral), false);
  assert.deepEqual(await answer(fake, interaction), { text: 'thought about it', private: true, seen: true, kind: 5 });
  await interaction.deleteReply();
  await assert.rejects(interaction.fetchReply(), { code: 10008 });
});

claim('an answer to what was never asked is refused', {}, async fake => {
  const client = await readyClient(fake);
  const interaction = await used(fake, client);
  const { rest } = client;
  const body = { type: InteractionResponseType.ChannelMessageWithSource, data: { content: 'hello?' } };
  await assert.rejects(rest.post(Routes.interactionCallback(interaction.id, 'made-up'), { body }), { code: 10062 });
  await assert.rejects(rest.post(Routes.webhook(fake.application, 'made-up'), { body: body.data }), { code: 10015 });
});

claim(
  'a choice of a menu comes with its value and changes the message',
  { lies: { 'choice-as-button': /interactionCreate did not come/ } },
  async fake => {
    const client = await readyClient(fake);
    const post = await client.channels.cache.get(fake.channel).send({
      content: 'Which?',
      components: [
        {
          type: ComponentType.ActionRow,
          components: [
            {
              type: ComponentType.StringSelect,
              customId: 'model',
              options: [
                { label: 'A', value: 'a' },
                { label: 'B', value: 'b' },
              ],
            },
          ],
        },
      ],
    });
    assert.equal(post.components[0].components[0].customId, 'model');
    const come = fake.event(client, Events.InteractionCreate, i => i.isStringSelectMenu());
    await fake.act('choose', { User: 'alice', Room: 'general', Message: post.id, CustomID: 'model', Value: 'b' });
    const interaction = await come;
    assert.deepEqual(interaction.values, ['b']);
    assert.equal(interaction.message.id, post.id);
    await interaction.update({ content: 'B it is', components: [] });
    const now = await post.fetch(true);
    assert.deepEqual([now.content, now.components.length], ['B it is', 0]);
  },
);

claim('a button can be taken note of first', {}, async fake => {
  const client = await readyClient(fake);
  const post = await client.channels.cache.get(fake.channel).send({
    content: 'Sure?',
    components: [
      {
        type: ComponentType.ActionRow,
        components: [{ type: ComponentType.Button, style: ButtonStyle.Primary, customId: 'yes', label: 'Yes' }],
      },
    ],
  });
  const come = fake.event(client, Events.InteractionCreate, i => i.isButton());
  await fake.act('click', { User: 'alice', Room: 'general', Message: post.id, CustomID: 'yes' });
  const interaction = await come;
  assert.equal(interaction.customId, 'yes');
  await interaction.deferUpdate();
  await interaction.editReply('Done');
  assert.equal((await post.fetch(true)).content, 'Done');
});
