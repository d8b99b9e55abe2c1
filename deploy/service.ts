// npm run service -- <name> …: a process of one service. What follows the name is the service's own.
import { nearestName } from '../packages/fault/index.ts';

const services = ['gateway', 'key-management', 'ingest', 'audio', 'transcription', 'analysis'];

const help = `Usage: npm run service -- <name> [migrate]

Runs one service in a process of its own, set up by the environment; the services meet over Kafka, an S3 store and gRPC.
With migrate, it makes or updates what the service keeps in PostgreSQL and its topics, and exits.

  <name>    ${services.join(', ')}
  --help    behind a name: every variable of that service

docs/configuration.md lists the variables of all services. npm start runs them all on one machine.`;

const [name = ''] = process.argv.splice(2, 1);
if (services.includes(name)) {
  await import(`../services/${name}/main.ts`);
} else if (name === '--help' || name === '-h') {
  console.log(help);
} else {
  const near = nearestName(name, services);
  const sentence =
    name === ''
      ? 'Which service?'
      : `There is no service ${name}${near === undefined ? '.' : `; did you mean ${near}?`}`;
  console.error(`${sentence} The services are ${services.join(', ')}.`);
  process.exitCode = 2;
}
