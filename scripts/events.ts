// npm run events: writes the tables of docs/events.md from the declarations of the events. `node scripts/events.ts release` makes
// the present public events the released ones.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { asyncApiDocument } from '../packages/bus/asyncapi/document.ts';
import { type DeclaredEventType, declaredEvents } from '../packages/events/index.ts';

const PAGE = 'docs/events.md';
const TABLES = /(<!-- events: .*? -->\n)[\s\S]*(<!-- end of events -->)/;

/** The page with tables that are current. */
function currentPage(page: string): string {
  if (!TABLES.test(page)) throw new Error(`${PAGE} has no place for its tables.`);
  const tables = [table('Public events', 'public'), table('Internal events', 'internal')].join('\n');
  return page.replace(TABLES, (_, begin: string, end: string) => `${begin}\n${tables}\n${end}`);
}

function table(title: string, audience: DeclaredEventType['audience']): string {
  const rows = declaredEvents
    .filter((event) => event.audience === audience)
    .map(
      ({ type, subject, publishers, description }) =>
        `| \`${type}\` | ${subject} | ${publishers.join(', ')} | ${description} |`,
    );
  return `## ${title}\n\n| topic | key: uuid of the | published by | |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** Whether docs/events.md is current. */
export function checkEvents(): string[] {
  const page = readFileSync(PAGE, 'utf8');
  return page === currentPage(page) ? [] : [`${PAGE} is not current; npm run events writes it`];
}

type Schema = Readonly<Record<string, unknown>>;

const RELEASED = 'packages/events/released.json';

/**
 * The changes of public events since the last release that break their promise to other systems: within a version a body gets
 * new optional fields and nothing else.
 */
export function checkReleasedEvents(released = read(), present = publicBodies()): string[] {
  return Object.entries(released).flatMap(([type, before]) => {
    const now = present[type];
    return now === undefined
      ? [`${type} is no longer published for other systems.`]
      : changes(before, now, '').map((change) => `${type}: ${change}. Declare a new version instead.`);
  });
}

/** The schemas of the bodies of public events, without descriptions. */
function publicBodies(): Record<string, Schema> {
  const { messages } = asyncApiDocument()['components'] as { messages: Record<string, { payload: Schema }> };
  const isPublic = new Set(declaredEvents.filter(({ audience }) => audience === 'public').map(({ type }) => type));
  const bodies = Object.entries(messages).filter(([type]) => isPublic.has(type));
  return JSON.parse(
    JSON.stringify(Object.fromEntries(bodies.map(([type, { payload }]) => [type, payload])), (name, value: unknown) =>
      name === 'description' && typeof value === 'string' ? undefined : value,
    ),
  ) as Record<string, Schema>;
}

function changes(before: unknown, now: unknown, path: string): string[] {
  if (isDeepStrictEqual(before, now)) return [];
  const where = path === '' ? 'the body' : path.slice(0, -1);
  if (!isSchema(before) || !isSchema(now)) return [`${where} has changed`];
  const { properties: fieldsBefore = {}, required: requiredBefore = [], ...restBefore } = before as FieldSchema;
  const { properties: fieldsNow = {}, required: requiredNow = [], ...restNow } = now as FieldSchema;
  const faults: string[] = [];
  for (const [name, field] of Object.entries(fieldsBefore)) {
    if (!(name in fieldsNow)) faults.push(`${path}${name} is missing`);
    else faults.push(...changes(field, fieldsNow[name], `${path}${name}.`));
  }
  for (const name of requiredBefore)
    if (name in fieldsNow && !requiredNow.includes(name)) faults.push(`${path}${name} has become optional`);
  for (const name of requiredNow)
    if (!requiredBefore.includes(name)) faults.push(`${path}${name} is required, but older processes lack it`);
  for (const keyword of new Set([...Object.keys(restBefore), ...Object.keys(restNow)])) {
    const [one, other] = [restBefore[keyword], restNow[keyword]];
    const isNested = isSchema(one) || (Array.isArray(one) && one.every(isSchema));
    if (!isNested && !isDeepStrictEqual(one, other)) faults.push(`${keyword} of ${where} has changed`);
    else if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
      faults.push(...one.flatMap((each, at) => changes(each, other[at], path)));
    else if (isNested) faults.push(...changes(one, other, path));
  }
  return faults;
}

interface FieldSchema extends Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function read(): Record<string, Schema> {
  return JSON.parse(readFileSync(RELEASED, 'utf8')) as Record<string, Schema>;
}

if (import.meta.main) {
  if (process.argv[2] === 'release') writeFileSync(RELEASED, `${JSON.stringify(publicBodies(), null, 2)}\n`);
  else writeFileSync(PAGE, currentPage(readFileSync(PAGE, 'utf8')));
}
