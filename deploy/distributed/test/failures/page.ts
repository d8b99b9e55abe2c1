// node deploy/distributed/test/failures/page.ts: writes docs/failures.md from promises.ts, which the tests check.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Answer, edgePromises, faults, FAULTS, killPromises, REQUESTS, requests } from './promises.ts';

const PAGE = 'docs/failures.md';

const introduction = `# When parts fail

This page says what a client sees while a part of the system of six processes fails, and how long recovery takes. Every
call that was accepted with 200 ends exactly once in every case: \`completed\`, or \`failed\` with stage and code. A client
that gets 503 (\`UNAVAILABLE\`, with \`Retry-After\`) or no answer retries. These requests are safe to repeat: reads, \`PUT\`,
process-upload with the same keys, and an audio upload with the same \`partner_call_id\` and bytes.

\`deploy/distributed/failures.distributed.test.ts\` causes these failures on real servers under load and checks the figures:
with \`TEST_RUN=long\` all of them; otherwise each link refused and with one or two other faults, and each part killed.
\`node deploy/distributed/test/failures/page.ts\` writes this page from the list that the tests use. The figures are bounds on a
machine with two cores for everything. Most of what is bounded by 5 s takes a fraction of a second.`;

/** The complete page. */
function failuresPage(): string {
  return `${introduction}\n\n${[links(), killed()].join('\n\n')}\n`;
}

function links(): string {
  const rows = edgePromises.flatMap(({ edge, answers }) =>
    REQUESTS.flatMap((request) => {
      const answer = answers[request];
      return answer === undefined
        ? []
        : [`| ${edge} | ${requests[request]} | ${FAULTS.map((fault) => inWords(answer[fault])).join(' | ')} |`];
    }),
  );
  const after = edgePromises.map(
    ({ edge, backS, completedS, why }) => `| ${edge} | ${backS} s | ${completedS} s | ${why} |`,
  );
  return `## A link

${FAULTS.map((fault) => `- **${fault}**: ${faults[fault]}.`).join('\n')}

During the fault (the status, and the time until it). \`services\` are all services with the part; \`others\` are audio,
transcription and analysis. Requests over other links are not affected:

| link | request | ${FAULTS.join(' | ')} |
|---|---|${FAULTS.map(() => '---|').join('')}
${rows.join('\n')}

After the fault:

| link | requests succeed within | a new batch is completed within | |
|---|---|---|---|
${after.join('\n')}`;
}

function killed(): string {
  const asked = REQUESTS.filter((request) => killPromises.some(({ answers }) => request in answers));
  const rows = killPromises.map(({ killed: name, answers, backS, completedS }) => {
    const cells = asked.map((request) => inWords(answers[request]));
    return `| ${name} | ${cells.join(' | ')} | ${backS} s | ${completedS} s |`;
  });
  return `## A process

Killed (SIGKILL) and restarted. The last two columns count from the restart.

| killed | ${asked.map((request) => requests[request]).join(' | ')} | requests succeed within | a new batch is completed within |
|---|${asked.map(() => '---|').join('')}---|---|
${rows.join('\n')}`;
}

function inWords(answer: Answer | undefined): string {
  if (answer === undefined) return '';
  const { endings, withinS } = answer;
  return `${endings.join(' or ')}${withinS === undefined ? '' : `, ${withinS} s`}`;
}

/** Whether docs/failures.md is current. */
export function checkFailures(): string[] {
  let page = '';
  try {
    page = readFileSync(PAGE, 'utf8');
  } catch {
    // A missing page is not current either.
  }
  return page === failuresPage()
    ? []
    : [`${PAGE} is not current; node deploy/distributed/test/failures/page.ts writes it`];
}

if (import.meta.main) {
  mkdirSync('docs', { recursive: true });
  writeFileSync(PAGE, failuresPage());
}
