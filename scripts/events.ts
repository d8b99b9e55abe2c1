// npm run events: writes the tables of docs/events.md from the declarations of the events.
import { readFileSync, writeFileSync } from 'node:fs';
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

if (import.meta.main) writeFileSync(PAGE, currentPage(readFileSync(PAGE, 'utf8')));
