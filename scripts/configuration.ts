// npm run configuration: writes docs/configuration.md from the schemas of the processes' environment.
import { readFileSync, writeFileSync } from 'node:fs';
import { remoteVariables, SigningVariables, variables as standalone } from '../deploy/standalone/config.ts';
import { KafkaVariables } from '../packages/bus/index.ts';
import { EncryptionVariables } from '../packages/encryption/index.ts';
import { S3Variables } from '../packages/objects/index.ts';
import { AddressVariables, RpcVariables } from '../packages/rpc/index.ts';
import { DatabaseVariables, describeVariables, ProcessVariables, type Variable } from '../packages/runtime/index.ts';
import { variables as analysis } from '../services/analysis/config.ts';
import { LanguageModelVariables, ReviewVariables } from '../services/analysis/language-model/config.ts';
import { SpeechPriceVariables } from '../services/analysis/language-model/prices.ts';
import { variables as audio } from '../services/audio/config.ts';
import { variables as gateway } from '../services/gateway/config.ts';
import { HttpVariables } from '../services/gateway/variables.ts';
import { variables as ingest } from '../services/ingest/config.ts';
import { LimitVariables } from '../services/ingest/limits.ts';
import { variables as keyManagement } from '../services/key-management/config.ts';
import { PepperVariables } from '../services/key-management/pepper.ts';
import { variables as transcription, WorkVariables } from '../services/transcription/config.ts';
import { SpeechVariables } from '../services/transcription/engines/config.ts';
import { variables as webhooks } from '../services/webhooks/config.ts';
import { WebhookVariables } from '../services/webhooks/variables.ts';

const PAGE = 'docs/configuration.md';

type Shapes = Parameters<typeof describeVariables>[0];

const processes: Readonly<Record<string, Shapes>> = {
  gateway,
  'key-management': keyManagement,
  ingest,
  audio,
  transcription,
  analysis,
  webhooks,
  'npm start': standalone,
  admin: remoteVariables,
};

/** The groups of variables, in the order of the page. A variable is listed in the first group that has it. */
const groups: Readonly<Record<string, Shapes>> = {
  'The API': [HttpVariables],
  'Bearer tokens and API keys': [SigningVariables, PepperVariables],
  PostgreSQL: [DatabaseVariables],
  Kafka: [KafkaVariables],
  'The object store': [S3Variables],
  'Encryption at rest': [EncryptionVariables],
  'Calls between services': [AddressVariables, RpcVariables],
  'Limits of uploads': [LimitVariables],
  'Speech to text': [SpeechVariables, SpeechPriceVariables, WorkVariables],
  'The language model': [LanguageModelVariables, ReviewVariables],
  Webhooks: [WebhookVariables],
  'Every process': [ProcessVariables],
  'npm start': standalone,
};

const introduction = `# Configuration

All settings come from the environment. An empty variable counts as not set. When a process starts, it reports all faults
together, one sentence for each. Variables that belong together must be set together.

A secret (marked \\*) may come from a file: set \`NAME_FILE\` to the path of the file. Durations are written like \`500ms\`,
\`45s\`, \`30m\`, \`12h\`, \`7d\`. \`HOST\` and \`DATABASE_URL\` mean something different for \`npm start\`; see the last section.

\`npm run configuration\` writes this page from the schemas with which the processes read their environment.

## Variables by process

● is required, ○ is optional. The seven services are the processes of \`npm run service -- <name>\`. \`npm start\` runs all of
them in one process and requires no variable. \`admin\` is the admin command with \`KEY_MANAGEMENT_ADDRESS\`; without that
variable it reads the variables of \`npm start\`.`;

/** The complete page. */
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
  if (homeless.length > 0) throw new Error(`${homeless.map(({ name }) => name).join(', ')} are in no group of ${PAGE}`);
  return `${introduction}\n\n${matrix.join('\n')}\n\n${sections.join('\n\n')}\n`;
}

/** Variables that have another meaning for \`npm start\`, or that only it reads. */
const OWN = new Set(['HOST', 'DATA_DIR', 'DATABASE_URL']);

/** Whether docs/configuration.md is current. */
export function checkConfiguration(): string[] {
  return readFileSync(PAGE, 'utf8') === configurationPage()
    ? []
    : [`${PAGE} is not current; npm run configuration writes it`];
}

function mark(variables: readonly Variable[], name: string): string {
  const variable = variables.find((each) => each.name === name);
  if (variable === undefined) return '';
  return variable.required ? '●' : '○';
}

function explained({ name, default: usual, secret, description }: Variable): string {
  return `| \`${name}\`${secret ? ' \\*' : ''} | ${usual === undefined ? '' : code(usual)} | ${description} |`;
}

/** A value as code; a description as text. */
function code(usual: string): string {
  return /[ '`]/.test(usual) ? usual : `\`${usual}\``;
}

if (import.meta.main) writeFileSync(PAGE, configurationPage());
