// npm run redaction -- FILE…: precision and recall on labelled sentences.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { KINDS } from './find-numbers.ts';
import { findPersonalData } from './redact.ts';

/** A line of the JSONL: a text, and the personal data in it. Offsets are UTF-16 units, the end is exclusive. */
const LabelledSentence = z.object({
  id: z.string(),
  language: z.string(),
  text: z.string(),
  entities: z.array(z.object({ type: z.enum(KINDS), start: z.int().min(0), end: z.int().min(1) })),
});
export type LabelledSentence = z.infer<typeof LabelledSentence>;

/** Shipped with the code: by the first the rules are tuned, by the second they are only measured. */
const SHIPPED = ['sentences/tuning.jsonl', 'sentences/held-out.jsonl'];

/** For each language, and for all together under `all`. */
export function measureRedaction(sentences: readonly LabelledSentence[]) {
  const languages = [...new Set(sentences.map(({ language }) => language))];
  return [...languages, 'all'].map((language) => {
    const chosen = sentences.filter((each) => language === 'all' || each.language === language);
    let [labelled, hidden, found, right] = [0, 0, 0, 0];
    for (const { text, entities: spans } of chosen) {
      const findings = findPersonalData(text);
      labelled += spans.length;
      found += findings.length;
      hidden += spans.filter((span) =>
        findings.some((each) => each.start <= span.start && span.end <= each.end),
      ).length;
      right += findings.filter((each) => spans.some((span) => each.start < span.end && span.start < each.end)).length;
    }
    return {
      language,
      sentences: chosen.length,
      labelled,
      /** Labelled pieces that are replaced completely, whichever kind was detected. */
      hidden,
      /** Pieces that are replaced. */
      found,
      /** Pieces that are replaced and touch a labelled one. */
      right,
    };
  });
}

const help = `npm run redaction -- [--failures] [FILE…]

Precision and recall on labelled sentences. Each line of a file: {"id", "language", "text", "entities": [{"type", "start",
"end"}]}, offsets in UTF-16 units. Without a file: on the shipped ones. A piece counts as hidden when it is replaced
completely; a replacement is right when it touches a piece. --failures prints what is missed and what is replaced wrongly.`;

function main(args: readonly string[]): void {
  if (args.includes('--help')) return console.log(help);
  const named = args.filter((each) => each !== '--failures');
  const files = named.length > 0 ? named : SHIPPED.map((name) => fileURLToPath(new URL(name, import.meta.url)));
  for (const file of files) {
    const sentences = readSentences(file);
    console.log(basename(file));
    console.table(
      measureRedaction(sentences).map(({ found, right, ...each }) => ({
        ...each,
        replaced: found,
        recall: share(each.hidden, each.labelled),
        precision: share(right, found),
      })),
    );
    if (args.includes('--failures')) printFailures(sentences);
  }
}

function readSentences(file: string): LabelledSentence[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => LabelledSentence.parse(JSON.parse(line)));
}

function printFailures(sentences: readonly LabelledSentence[]): void {
  for (const { id, text, entities } of sentences) {
    const findings = findPersonalData(text);
    const missed = entities.filter(
      (span) => !findings.some((each) => each.start <= span.start && span.end <= each.end),
    );
    const wrong = findings.filter((each) => !entities.some((span) => each.start < span.end && span.start < each.end));
    if (missed.length + wrong.length === 0) continue;
    const shown = [
      ...missed.map(({ type, start, end }) => `missed ${type} “${text.slice(start, end)}”`),
      ...wrong.map(({ kind, start, end }) => `wrong ${kind} “${text.slice(start, end)}”`),
    ];
    console.log(`${id}: ${shown.join(', ')}\n  ${text}`);
  }
}

function share(part: number, total: number): string {
  return total === 0 ? '-' : `${((part / total) * 100).toFixed(1)}%`;
}

if (import.meta.main) main(process.argv.slice(2));
