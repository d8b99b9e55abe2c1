import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Table } from '../../widgets/list.tsx';
import { callTexts } from '../texts.ts';
import type { Analysis, Question } from './use-call.ts';
import { questionsOf } from './use-review.ts';

/** The newest analyses, as many as fit side by side. */
const MOST = 4;

/** Analyses of one call side by side, question by question. */
export function Compare({ analyses, onClose }: { analyses: readonly Analysis[]; onClose: () => void }) {
  const t = callTexts.use();
  const shown = analyses.slice(0, MOST);
  const texts = new Map(
    shown
      .toReversed()
      .flatMap(questionsOf)
      .map(({ uuid, text }) => [uuid, text]),
  );
  const answers = shown.map((analysis) => new Map(questionsOf(analysis).map((question) => [question.uuid, question])));
  const isSame = (uuid: string) => new Set(answers.map((of) => of.get(uuid)?.answer)).size === 1;
  return (
    <Dialog title={t('compare')} isWide onClose={onClose}>
      <Table
        label={t('compare')}
        className="scroll-x compare"
        items={[...texts]}
        keyOf={([uuid]) => uuid}
        columns={[
          { title: t('question'), kind: 'name', className: 'foreign', cell: ([, text]) => text },
          ...shown.map((analysis, at) => ({
            title: format.dateTime(analysis.created_at),
            head: (
              <>
                <Score value={analysis.score} />
                <span className="muted">{format.dateTime(analysis.created_at)}</span>
                <span className="muted foreign">
                  {analysis.scorecard.name} {analysis.scorecard.revision}
                </span>
              </>
            ),
            className: 'foreign',
            cell: ([uuid]: [string, string]) => {
              const question = answers[at]!.get(uuid);
              const text = question === undefined ? '–' : answerText(question);
              return isSame(uuid) ? text : <mark>{text}</mark>;
            },
          })),
        ]}
      />
      <DialogActions onClose={onClose} />
    </Dialog>
  );

  function answerText({ answer, not_applicable }: Question): string {
    return not_applicable ? t('notApplicable') : (answer ?? t('open'));
  }
}
