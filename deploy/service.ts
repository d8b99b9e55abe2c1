// npm run service -- <name> …: runs one service. The arguments after the name go to the service.
import { nearestName } from '../packages/fault/index.ts';

const services = ['gateway', 'key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'];

const help = `Usage: npm run service -- <name> [migrate]

Runs one service in its own process, configured by the environment. Services communicate through Kafka, an S3 store and
gRPC. With migrate, it creates or updates the service's tables in PostgreSQL and its Kafka topics, and exits.

  <name>    ${services.join(', ')}
  --help    after a name: every variable of that service

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
