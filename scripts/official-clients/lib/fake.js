// Starts the Go stand-ins, acts in them, and waits for what comes of it.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../.fakes/', import.meta.url));

/** What was awaited did not come in time: the one failure that a silent stand-in causes. */
export class Missing extends Error {}

/** The stand-in itself did not work; it proves nothing about what a client notices. */
export class Broken extends Error {}

/** One running stand-in. */
export class Fake {
  #child;
  #cleanups = [];

  /**
   * Starts the stand-in of a platform, 'slack' or 'discord', with flags of its
   * command line. It is given `patience` milliseconds for everything awaited.
   */
  static async start(platform, flags, patience) {
    const fake = new Fake();
    fake.patience = patience;
    fake.#child = spawn(`${bin}${platform}fake`, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await new Promise((resolve, reject) => {
      let text = '';
      fake.#child.once('error', e => reject(new Broken(`${platform}fake: ${e.message}; npm run build makes it`)));
      fake.#child.once('exit', code => reject(new Broken(`${platform}fake ended with ${code}`)));
      fake.#child.stdout.on('data', chunk => {
        text += chunk;
        if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
      });
    });
    return Object.assign(fake, JSON.parse(line));
  }

  /** Lets somebody, or something, act in the stand-in. */
  async act(name, order = {}) {
    const response = await fetch(`${this.control}/fake/${name}`, { method: 'POST', body: JSON.stringify(order) });
    if (!response.ok) throw new Broken(`act ${name}: ${response.status} ${await response.text()}`);
    return (await response.json()).result;
  }

  /** What the stand-in saw and has. */
  state(order) {
    return this.act('state', order);
  }

  /** Has something done when the test is over, the last one first. */
  after(cleanup) {
    this.#cleanups.push(cleanup);
  }

  /** Gives what a promise gives, or Missing with its name. */
  async within(what, promise) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Missing(`${what} did not come`)), this.patience);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives the first argument of an emitter's next event for which `fits` holds. */
  event(emitter, name, fits = () => true) {
    let listener;
    const come = new Promise(resolve => {
      listener = (...args) => fits(...args) && resolve(args[0]);
      emitter.on(name, listener);
    });
    const coming = this.within(name, come).finally(() => emitter.off(name, listener));
    coming.catch(() => {}); // whoever awaits it hears of it; a test that failed before does not
    return coming;
  }

  /** Asks again and again until the answer is truthy, and gives it. */
  async until(what, ask) {
    for (const end = Date.now() + this.patience; Date.now() < end; ) {
      const answer = await ask();
      if (answer) return answer;
      await pause(25);
    }
    throw new Missing(`${what} did not come`);
  }

  async stop() {
    for (const cleanup of this.#cleanups.reverse()) {
      await Promise.race([
        Promise.resolve()
          .then(cleanup)
          .catch(() => {}),
        pause(1000),
      ]);
    }
    const over = new Promise(resolve => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await over;
  }
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
