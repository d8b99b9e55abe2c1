import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { callTexts } from './texts.ts';
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
  return (
    <Dialog title={t('compare')} isWide onClose={onClose}>
      {/* Long tables are scrolled by keyboard, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="scroll-x" tabIndex={0} role="region" aria-label={t('compare')}>
        <table className="compare">
          <thead>
            <tr>
              <th scope="col">{t('question')}</th>
              {shown.map((analysis) => (
                <th key={analysis.uuid} scope="col">
                  <Score value={analysis.score} />
                  <span className="muted">{format.dateTime(analysis.created_at)}</span>
                  <span className="muted foreign">
                    {analysis.scorecard.name} {analysis.scorecard.revision}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...texts].map(([uuid, text]) => {
              const row = answers.map((byUuid) => byUuid.get(uuid));
              const isSame = new Set(row.map((question) => question?.answer)).size === 1;
              return (
                <tr key={uuid} className={isSame ? '' : 'compare-changed'}>
                  <th scope="row" className="foreign">
                    {text}
                  </th>
                  {row.map((question, index) => (
                    <td key={shown[index]!.uuid} className="foreign">
                      {question === undefined ? '–' : answerText(question)}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <DialogActions onClose={onClose} leave="close" />
    </Dialog>
  );

  function answerText({ answer, not_applicable }: Question): string {
    return not_applicable ? t('notApplicable') : (answer ?? t('open'));
  }
}
