import type { Schemas } from '@call-analysis/client';

type Call = Schemas['CallDetail'];
type Answer = Schemas['Analysis']['sections'][number]['questions'][number];

const columns = [
  { title: 'score', width: 5 },
  { title: '', width: 10 },
  { title: 'answered', width: 8 },
  { title: 'call', width: 14 },
  { title: 'lang', width: 4 },
  { title: 'operator', width: 12 },
  { title: 'segment', width: 9 },
  { title: 'topics', width: 28 },
];

/** A table of all calls, best first, with the averages per operator and the best and the worst call explained. */
export function report(calls: readonly Call[]): string {
  const ranked = [...calls].sort((a, b) => (b.score ?? -1) - (a.score ?? -1));
  const lines = ['', row(columns.map(({ title }) => title)), columns.map(({ width }) => '-'.repeat(width)).join('  ')];
  for (const call of ranked) {
    lines.push(
      row([
        call.score?.toFixed(1).padStart(5) ?? call.status,
        call.score === null ? '' : '#'.repeat(Math.round(call.score / 10)),
        call.answered === null ? '' : `${call.answered} of ${call.questions}`,
        call.partner_call_id ?? '',
        call.language ?? '?',
        call.operator_name,
        call.segment_type,
        call.analysis?.topics.slice(0, 3).join(', ') ?? '',
      ]),
    );
  }
  const scored = ranked.filter((call) => call.score !== null);
  lines.push('', 'Average by operator', ...averages(scored));
  const [best, worst] = [scored.at(0), scored.at(-1)];
  if (best !== undefined) lines.push('', `Best call: ${title(best)}`, ...why(best));
  if (worst !== undefined && worst !== best) lines.push('', `Worst call: ${title(worst)}`, ...why(worst));
  return `${lines.join('\n')}\n`;
}

/** The transcript of a call, with times. */
export function conversation(call: Call): string {
  if (call.failure !== null) return `${call.partner_call_id} failed: ${call.failure.message}\n`;
  const { engine, utterances } = call.transcript ?? { engine: null, utterances: [] };
  const lines = utterances.map(({ role, text, start }) => `  ${clock(start)}  ${role.padEnd(8)}  ${text}`);
  return [`Transcript of ${call.partner_call_id} by ${engine ?? 'no engine'}:`, ...lines, ''].join('\n');
}

function clock(seconds: number | null): string {
  if (seconds === null) return '     ';
  return `${String(Math.floor(seconds / 60)).padStart(2)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

function averages(scored: readonly Call[]): string[] {
  const byOperator = Map.groupBy(scored, (call) => call.operator_name);
  return [...byOperator]
    .map(([name, calls]) => ({
      name,
      calls: calls.length,
      mean: calls.reduce((sum, call) => sum + call.score!, 0) / calls.length,
    }))
    .sort((a, b) => b.mean - a.mean)
    .map(({ name, calls, mean }) => `  ${mean.toFixed(1).padStart(5)}  ${name} (${calls} calls)`);
}

function title(call: Call): string {
  return `${call.partner_call_id ?? ''}, ${call.operator_name}, ${call.score?.toFixed(1)} points for ${call.answered} of ${call.questions} questions`;
}

function why(call: Call): string[] {
  const analysis = call.analysis;
  if (analysis === null) return [];
  const lines = analysis.summary.split('\n').map((line) => `  ${line}`);
  if (analysis.auto_failed) lines.push('  The call failed outright, whatever its points.');
  for (const section of analysis.sections) {
    const isOpen = section.questions.some((question) => isUnanswered(question));
    const score = section.score?.toFixed(1) ?? (isOpen ? 'open' : 'does not apply');
    lines.push(`  ${section.name}: ${score}`);
    for (const question of section.questions) {
      if (question.not_applicable || isUnanswered(question)) continue;
      const quote = question.evidence[0];
      const reason =
        quote === undefined
          ? question.explanation
          : `${question.answer}: “${quote.quote}” (utterance ${quote.utterance + 1})`;
      lines.push(`    ${String(question.points).padStart(3)} of ${question.max_points}  ${question.text} ${reason}`);
    }
  }
  const open = analysis.sections.flatMap((section) => section.questions.filter(isUnanswered));
  if (open.length > 0) lines.push(`  Open: ${open.map(({ text }) => text).join(' ')}`);
  return lines;
}

function isUnanswered({ answer, not_applicable }: Pick<Answer, 'answer' | 'not_applicable'>): boolean {
  return answer === null && !not_applicable;
}

function row(cells: readonly string[]): string {
  return columns
    .map(({ width }, index) => fit(cells[index] ?? '', width))
    .join('  ')
    .trimEnd();
}

function fit(text: string, width: number): string {
  const characters = [...text];
  return characters.length > width
    ? `${characters.slice(0, width - 1).join('')}…`
    : text + ' '.repeat(width - characters.length);
}
