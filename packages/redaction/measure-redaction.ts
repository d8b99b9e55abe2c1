// npm run redaction -- FILE…: precision and recall on labelled sentences.
import { readFileSync } from 'node:fs';
import { findPersonalData } from './redact.ts';

/** A line of the JSONL: a text, and the personal data in it as it is written there, in the order of the text. */
export interface LabelledSentence {
  readonly text: string;
  readonly language: string;
  readonly personal: readonly { readonly kind: string; readonly text: string }[];
}

export interface RedactionAccuracy {
  readonly language: string;
  readonly sentences: number;
  /** Labelled pieces of personal data. */
  readonly labelled: number;
  /** Labelled pieces that are replaced completely, whatever their kind is taken for. */
  readonly hidden: number;
  /** Pieces that are replaced. */
  readonly found: number;
  /** Pieces that are replaced and touch a labelled one. */
  readonly right: number;
}

/** For each language, and for all together under `all`. */
export function measureRedaction(sentences: readonly LabelledSentence[]): RedactionAccuracy[] {
  const languages = [...new Set(sentences.map(({ language }) => language))];
  return [...languages, 'all'].map((language) => {
    const chosen = sentences.filter((each) => language === 'all' || each.language === language);
    let [labelled, hidden, found, right] = [0, 0, 0, 0];
    for (const { text, personal } of chosen) {
      const findings = findPersonalData(text);
      let from = 0;
      const spans = personal.map((piece) => {
        const start = text.indexOf(piece.text, from);
        if (start < 0) throw new Error(`“${piece.text}” is not in “${text}”.`);
        from = start + piece.text.length;
        return { start, end: from };
      });
      labelled += spans.length;
      found += findings.length;
      hidden += spans.filter((span) =>
        findings.some((each) => each.start <= span.start && span.end <= each.end),
      ).length;
      right += findings.filter((each) => spans.some((span) => each.start < span.end && span.start < each.end)).length;
    }
    return { language, sentences: chosen.length, labelled, hidden, found, right };
  });
}

function main(files: readonly string[]): void {
  if (files.length === 0 || files.includes('--help')) {
    console.log(
      'npm run redaction -- FILE…\n\nEach line of a file: {"text", "language", "personal": [{"kind", "text"}]}',
    );
    process.exitCode = files.length === 0 ? 2 : 0;
    return;
  }
  const sentences = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as LabelledSentence),
  );
  console.log('language  sentences  labelled  hidden  replaced  recall  precision');
  for (const each of measureRedaction(sentences)) {
    const columns = [
      each.language.padEnd(8),
      String(each.sentences).padStart(9),
      String(each.labelled).padStart(8),
      String(each.hidden).padStart(6),
      String(each.found).padStart(8),
      share(each.hidden, each.labelled).padStart(6),
      share(each.right, each.found).padStart(9),
    ];
    console.log(columns.join('  '));
  }
}

function share(part: number, total: number): string {
  return total === 0 ? '-' : `${((part / total) * 100).toFixed(1)}%`;
}

if (import.meta.main) main(process.argv.slice(2));
