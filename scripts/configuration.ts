// npm run configuration: writes docs/configuration.md from the schemas by which the processes read their environment.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { remoteVariables, SigningVariables, variables as standalone } from '../deploy/standalone/config.ts';
import { KafkaVariables } from '../packages/bus/index.ts';
import { S3Variables } from '../packages/objects/index.ts';
import { AddressVariables, RpcVariables } from '../packages/rpc/index.ts';
import { DatabaseVariables, describeVariables, ProcessVariables, type Variable } from '../packages/runtime/index.ts';
import { variables as analysis } from '../services/analysis/config.ts';
import { variables as audio } from '../services/audio/config.ts';
import { variables as gateway } from '../services/gateway/config.ts';
import { EdgeVariables } from '../services/gateway/variables.ts';
import { variables as ingest } from '../services/ingest/config.ts';
import { LimitVariables } from '../services/ingest/limits.ts';
import { variables as keyManagement } from '../services/key-management/config.ts';
import { PepperVariables } from '../services/key-management/pepper.ts';
import { variables as transcription, WorkVariables } from '../services/transcription/config.ts';
import { SpeechVariables } from '../services/transcription/engines/config.ts';

export const PAGE = 'docs/configuration.md';

type Shapes = Parameters<typeof describeVariables>[0];

const processes: Readonly<Record<string, Shapes>> = {
  gateway,
  'key-management': keyManagement,
  ingest,
  audio,
  transcription,
  analysis,
  'npm start': standalone,
  admin: remoteVariables,
};

/** What belongs together, in the order of the page; a variable stands under the first that has it. */
const groups: Readonly<Record<string, Shapes>> = {
  'The API': [EdgeVariables],
  'Bearer tokens and API keys': [SigningVariables, PepperVariables],
  PostgreSQL: [DatabaseVariables],
  Kafka: [KafkaVariables],
  'The object store': [S3Variables],
  'Calls between services': [AddressVariables, RpcVariables],
  'What is taken at most': [LimitVariables],
  'Speech to text': [SpeechVariables, WorkVariables],
  'Every process': [ProcessVariables],
  'npm start': standalone,
};

const introduction = `# Configuration

All of it comes from the environment. A variable that is set to nothing counts as not set. What is wrong is said when a
process starts, all at once, a sentence for each; half of what only works together is refused.

A secret (marked \\*) may come from a file instead, whose name is then in \`NAME_FILE\`. Durations are written like \`500ms\`,
\`45s\`, \`30m\`, \`12h\`, \`7d\`. Of \`HOST\` and \`DATABASE_URL\`, \`npm start\` has a meaning of its own; see the end.

This page is made by \`npm run configuration\` from the schemas that the processes read their environment with.

## Who reads what

● has to be set, ○ may be. The six services are processes of \`npm run service -- <name>\`; \`npm start\` runs all of them in
one, and needs nothing. \`admin\` is the administrator's command where \`KEY_MANAGEMENT_ADDRESS\` is set; without it, it reads
what \`npm start\` does.`;

/** The whole page. */
function configurationPage(): string {
  const described = Object.entries(processes).map(([name, shapes]) => ({ name, variables: describeVariables(shapes) }));
  const placed = new Set<string>();
  const sections: string[] = [];
  const matrix = [
    `| | ${described.map(({ name }) => name).join(' | ')} |`,
    `|---|${described.map(() => ':-:').join('|')}|`,
  ];
  for (const [title, shapes] of Object.entries(groups)) {
    const isOwn = title === 'npm start';
    const members = describeVariables(shapes).filter(({ name }) => (isOwn ? OWN.has(name) : !placed.has(name)));
    const rows = members.map(explained);
    sections.push(`## ${title}\n\n| variable | default | |\n|---|---|---|\n${rows.join('\n')}`);
    for (const { name } of members) {
      if (!placed.has(name))
        matrix.push(`| \`${name}\` | ${described.map(({ variables }) => mark(variables, name)).join(' | ')} |`);
      placed.add(name);
    }
  }
  const homeless = described.flatMap(({ variables }) => variables.filter(({ name }) => !placed.has(name)));
  if (homeless.length > 0)
    throw new Error(`${homeless.map(({ name }) => name).join(', ')} stand in no group of ${PAGE}`);
  return `${introduction}\n\n${matrix.join('\n')}\n\n${sections.join('\n\n')}\n`;
}

/** What means something else to \`npm start\`, or is its alone. */
const OWN = new Set(['HOST', 'DATA_DIR', 'DATABASE_URL']);

/** Whether the page is as the schemas are. */
export function checkConfiguration(): string[] {
  let page = '';
  try {
    page = readFileSync(PAGE, 'utf8');
  } catch {
    // Then it is not current either.
  }
  return page === configurationPage()
    ? []
    : [`${PAGE} is not what the schemas say; npm run configuration writes it anew`];
}

function mark(variables: readonly Variable[], name: string): string {
  const variable = variables.find((each) => each.name === name);
  if (variable === undefined) return '';
  return variable.required ? '●' : '○';
}

function explained({ name, default: usual, secret, description }: Variable): string {
  return `| \`${name}\`${secret ? ' \\*' : ''} | ${usual === undefined ? '' : code(usual)} | ${description} |`;
}

/** A value as it would be written; words stay words. */
function code(usual: string): string {
  return /[ '`]/.test(usual) ? usual : `\`${usual}\``;
}

if (import.meta.main) {
  mkdirSync('docs', { recursive: true });
  writeFileSync(PAGE, configurationPage());
}
