// A process whose start and close behave as its arguments say; run by process.test.ts.
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { ConfigFault, createLog, runProcess } from '../index.ts';

const [how, graceMs] = process.argv.slice(2);
const say = (word: string) => process.stdout.write(`${word}\n`);
// Keeps the process alive as an open server would.
setInterval(() => {}, 1000);

await runProcess({
  log: createLog({ name: 'life' }),
  graceMs: () => Number(graceMs ?? 30_000),
  start: async (signal) => {
    say('starting');
    if (how === 'misconfigured') throw new ConfigFault('PORT must be a port from 0 to 65535, not "x".');
    if (how === 'broken start') throw new Error('no such table');
    if (how === 'slow start') await setTimeout(300);
    if (how === 'abortable start') await setTimeout(60_000, undefined, { signal });
    if (how === 'endless start') await new Promise(() => {});
    if (how === 'close at the second signal') {
      // Time stands still, so that it comes soon after the first one however late it comes.
      const now = performance.now();
      performance.now = () => now;
    }
    if (how === 'warning') process.emitWarning('this goes', 'DeprecationWarning', 'DEP0999');
    say('ready');
    if (how === 'exception') {
      setImmediate(() => {
        throw new Error('out of nowhere');
      });
    }
    if (how === 'rejection') void Promise.reject(new Error('out of nowhere'));
    return {
      close: async () => {
        say('closing');
        if (how === 'close at the second signal') await once(process, 'SIGINT');
        if (how === 'endless close') await new Promise(() => {});
        if (how === 'broken close') throw new Error('no disk');
        say('closed');
      },
    };
  },
});
