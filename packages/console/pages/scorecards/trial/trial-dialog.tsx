import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { shellTexts } from '../../../i18n/texts.ts';
import { Button } from '../../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Fault } from '../../../widgets/page.tsx';
import { CallChoice } from '../../calls/call-choice.tsx';
import { scorecardsTexts } from '../../texts.ts';
import type { Section, Scorecard } from '../draft.ts';
import { TrialResult } from './trial-result.tsx';

interface Props {
  readonly scorecard: Scorecard;
  readonly draft: { readonly name: string; readonly sections: readonly Section[] };
  readonly onClose: () => void;
}

const MOST = 10;

/** Tries the scorecard as it is being edited on some calls. Nothing is stored. */
export function TrialDialog({ scorecard, draft, onClose }: Props) {
  const t = scorecardsTexts.use();
  const shell = shellTexts.use();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const trial = useMutation({
    mutationFn: () => {
      const body = {
        call_uuids: [...chosen],
        draft: { name: draft.name, segment_type: scorecard.segment_type, sections: [...draft.sections] },
      };
      return send(
        api.POST('/api/v1/scorecards/{uuid}/try', { params: { path: { uuid: scorecard.uuid } }, body }),
      ) as Promise<Schemas['ScorecardTrial']>;
    },
  });
  return (
    <Dialog title={t('trial')} isWide onClose={onClose}>
      {trial.data === undefined ? (
        <>
          <p className="muted">{t('trial.about', { most: format.number(MOST) })}</p>
          <CallChoice chosen={chosen} onChange={setChosen} most={MOST} segmentType={scorecard.segment_type}>
            {(offered) => (
              <Button onClick={() => setChosen(offered.slice(0, MOST))}>
                {t('trial.newest', { most: format.number(MOST) })}
              </Button>
            )}
          </CallChoice>
          {trial.isError && <Fault error={trial.error} />}
        </>
      ) : (
        <TrialResult items={trial.data.items} />
      )}
      <DialogActions onClose={onClose} leave={shell('close')}>
        {trial.data === undefined ? (
          <Button kind="primary" disabled={chosen.length === 0 || trial.isPending} onClick={() => trial.mutate()}>
            {t(trial.isPending ? 'trial.running' : 'trial.run', {
              n: chosen.length,
              count: format.number(chosen.length),
            })}
          </Button>
        ) : (
          <Button onClick={() => trial.reset()}>{t('trial.others')}</Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
