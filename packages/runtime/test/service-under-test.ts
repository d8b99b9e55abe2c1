// A process of one service, as its environment says; run by service-process.test.ts.
import { once } from 'node:events';
import { unavailable } from '@call-analysis/fault';
import { parseConfig, processFrom, ProcessVariables, Readiness, runService, StartFault } from '../index.ts';

const { HOW = '' } = process.env;
const say = (word: string) => process.stdout.write(`${word}\n`);

await runService({
  name: 'served',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Does nothing.',
  variables: [ProcessVariables],
  readConfig: (env) => ({ process: processFrom(parseConfig(ProcessVariables, env)), config: HOW }),
  load: async () => ({
    async start(how) {
      if (how === 'no database') throw unavailable('PostgreSQL');
      if (how === 'slow start') {
        const told = once(process, 'SIGTERM');
        say('starting');
        await told;
      }
      return {
        address: '127.0.0.1:1',
        readiness: new Readiness([]),
        async close() {
          say('closing');
          if (how === 'endless close') await new Promise(() => {});
        },
      };
    },
    async prepare(how) {
      if (how === 'no right') throw new StartFault('The role may not.');
      say('prepared');
    },
  }),
});
