import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Check, TextField } from '../../widgets/controls.tsx';
import { LoadingOrFailed } from '../../widgets/page.tsx';

const OFFERED = 30;

interface Props {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly most: number;
  /** Calls of any other segment type are not offered. */
  readonly segmentType?: string | null;
  /** Beside the field for an operator: what else can be done with the offered calls. */
  readonly children?: (offered: readonly string[]) => ReactNode;
}

/** Scored calls, the newest first, of an operator if one is named. Chosen ones stay when others are looked for. */
export function CallChoice({ chosen, onChange, most, segmentType = null, children }: Props) {
  const t = shellTexts.use();
  const [operator, setOperator] = useState('');
  const query = {
    status: ['completed' as const],
    outcome: ['scored' as const],
    sort: '-start_time' as const,
    size: OFFERED,
    ...(segmentType !== null && { segment_type: [segmentType] }),
    ...(operator.trim() !== '' && { operator_name: operator.trim() }),
  };
  const found = useQuery({
    ...get(['calls', 'to choose', query], '/api/v1/calls', { query }),
    placeholderData: keepPreviousData,
  });
  const offered = found.data?.items ?? [];
  const uuids = offered.map(({ uuid }) => uuid);
  const others = chosen.filter((uuid) => !uuids.includes(uuid)).length;
  return (
    <>
      <div className="row call-choice-head">
        <TextField label={t('choice.operator')} type="search" value={operator} onText={setOperator} />
        {children?.(uuids)}
      </div>
      <LoadingOrFailed query={found} />
      {found.isSuccess && offered.length === 0 && <p className="muted">{t('choice.none')}</p>}
      {offered.length > 0 && (
        <ul className="call-choice" tabIndex={0} aria-label={t('choice')}>
          {offered.map(({ uuid, operator_name, start_time, score }) => (
            <li key={uuid}>
              <Check
                checked={chosen.includes(uuid)}
                disabled={!chosen.includes(uuid) && chosen.length >= most}
                onChange={() => onChange(toggled(chosen, uuid))}
              >
                <span className="foreign grow">{operator_name}</span>
                <span className="muted number">{format.shortDateTime(start_time)}</span>
                <Score value={score} />
              </Check>
            </li>
          ))}
        </ul>
      )}
      {others > 0 && <p className="muted">{t('choice.others', { n: others, count: format.number(others) })}</p>}
    </>
  );
}

/** A list with one item more, or less. */
export function toggled(list: readonly string[], item: string): readonly string[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item];
}
