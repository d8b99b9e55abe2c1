// node deploy/distributed/failures/page.ts: writes docs/failures.md from promises.ts, to which the tests hold the system.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Answer, edgePromises, faults, FAULTS, killPromises, REQUESTS, requests } from './promises.ts';

export const PAGE = 'docs/failures.md';

const introduction = `# When parts fail

What a client sees while a part of a system of six processes is away, and how long it takes until all is as before. What
was accepted with 200 comes to its end in every case, once: \`completed\`, or \`failed\` with stage and code. A client that
gets 503 (\`UNAVAILABLE\`, with \`Retry-After\`) or no answer asks again: reading, \`PUT\`, process-upload with the same keys and
an audio upload with the same \`partner_call_id\` and bytes are safe to repeat.

\`deploy/distributed/failures.distributed.test.ts\` does all of this to real servers under load, and holds the system to each
of these figures: with \`TEST_RUN=long\` to all of them, else to those of each link refused and of one or two other ways,
and of each part killed. This page is made from the same list by \`node deploy/distributed/failures/page.ts\`. The figures
are bounds on a machine that has two cores for everything; most of what is bounded by 5 s takes a fraction of one.`;

/** The whole page. */
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

While it lasts (a status, and within how many seconds). \`services\` are all that have the part, \`others\` are audio,
transcription and analysis; what is asked over another link goes on as ever:

| link | request | ${FAULTS.join(' | ')} |
|---|---|${FAULTS.map(() => '---|').join('')}
${rows.join('\n')}

Afterwards:

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

Killed (SIGKILL) and started anew. The last two columns count from when it is there again.

| killed | ${asked.map((request) => requests[request]).join(' | ')} | requests succeed within | a new batch is completed within |
|---|${asked.map(() => '---|').join('')}---|---|
${rows.join('\n')}`;
}

function inWords(answer: Answer | undefined): string {
  if (answer === undefined) return '';
  const { endings, withinS } = answer;
  return `${endings.join(' or ')}${withinS === undefined ? '' : `, ${withinS} s`}`;
}

/** Whether the page is as the list is. */
export function checkFailures(): string[] {
  let page = '';
  try {
    page = readFileSync(PAGE, 'utf8');
  } catch {
    // Then it is not current either.
  }
  return page === failuresPage()
    ? []
    : [`${PAGE} is not what is promised; node deploy/distributed/failures/page.ts writes it anew`];
}

if (import.meta.main) {
  mkdirSync('docs', { recursive: true });
  writeFileSync(PAGE, failuresPage());
}
