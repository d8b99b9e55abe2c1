import { useQuery } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { get } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import { stringifySearch } from '../../api/search-params.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useMay } from '../../session/rights.ts';
import { SERVICE_URL } from '../../session/session.ts';
import { Button, Check, SelectField } from '../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/page.tsx';
import { callsTexts } from '../texts.ts';
import { type CallSearch, DEFAULT_SORT } from './call-search.ts';

const FORMATS = { csv: 'CSV', xlsx: 'Excel', ndjson: 'JSON Lines', parquet: 'Parquet' } as const;
type Format = keyof typeof FORMATS;
const NAMES = ['own', 'api'] as const;

/** The exported calls: those of the filters, or calls by uuid. */
export type Exported = { readonly search: CallSearch } | { readonly uuids: readonly string[] };

/** What goes into the file beside the calls' own fields. */
interface Contents {
  readonly format: Format;
  /** The scorecard whose questions get a column each. */
  readonly questions: string | undefined;
  readonly transcripts: boolean;
  /** The columns' names. Absent: those of the API. */
  readonly headings: Readonly<Record<string, string>> | undefined;
}

/** Downloads calls, with what the user chooses. */
export default function ExportDialog({ calls, onClose }: { calls: Exported; onClose: () => void }) {
  const t = callsTexts.use();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const mayReadScorecards = useMay('scorecards');
  const scorecards = useQuery({
    ...get(['scorecards', 'export'], '/api/v1/scorecards', { query: { size: 100 } }),
    enabled: mayReadScorecards,
  });
  const scorecardNames = new Map(
    (scorecards.data?.items ?? []).map(({ uuid, name, segment_type }) => [
      uuid,
      segment_type === null ? name : `${name} (${segment_type})`,
    ]),
  );
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const questions = String(form.get('questions') ?? '');
    const format = (Object.keys(FORMATS) as Format[]).find((each) => each === form.get('format')) ?? 'csv';
    setBusy(true);
    setError(null);
    download(calls, {
      format,
      questions: questions === '' ? undefined : questions,
      transcripts: form.has('transcripts'),
      headings: form.get('names') === 'own' ? headings() : undefined,
    }).then(onClose, (fault: unknown) => {
      setError(fault);
      setBusy(false);
    });
  };
  return (
    <Dialog title={t('uuids' in calls ? 'exportSelected' : 'export')} onClose={onClose}>
      <form className="form filter-form" onSubmit={submit}>
        <SelectField
          label={t('export.format')}
          name="format"
          options={Object.keys(FORMATS) as Format[]}
          nameOf={(format) => FORMATS[format]}
          defaultValue="xlsx"
        />
        <SelectField
          label={t('export.names')}
          name="names"
          options={NAMES}
          nameOf={(names) => t(`export.names.${names}`)}
          defaultValue="own"
        />
        {mayReadScorecards && (
          <SelectField
            key={scorecardNames.size}
            label={t('export.answers')}
            name="questions"
            options={['', ...scorecardNames.keys()]}
            nameOf={(uuid) => scorecardNames.get(uuid) ?? t('export.noAnswers')}
          />
        )}
        <Check name="transcripts">{t('export.transcripts')}</Check>
        {error !== null && <Fault error={error} />}
        <DialogActions onClose={onClose}>
          <Button kind="primary" isSubmit disabled={isBusy}>
            {t(isBusy ? 'exporting' : 'export')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const HEADING = 'heading.';
/** Columns whose name in the file is that of the table. */
const COLUMN = 'column.';

/** The names of the file's columns in the user's language, by those of the API. */
function headings(): Record<string, string> {
  const all = callsTexts.keys();
  const named = (prefix: string) =>
    all.flatMap((key) => (key.startsWith(prefix) ? [[key.slice(prefix.length), callsTexts.translate(key)]] : []));
  return Object.fromEntries([...named(COLUMN), ...named(HEADING)]) as Record<string, string>;
}

function download(calls: Exported, { format, questions, transcripts, headings }: Contents): Promise<void> {
  const url = `${SERVICE_URL}/api/v1/calls/export`;
  const name = `calls.${format}`;
  const contents = {
    format,
    // Its times are those that are shown.
    tz: timeZone(),
    ...(questions !== undefined && { questions }),
    ...(transcripts && { transcripts }),
  };
  if ('uuids' in calls) return saveFile(url, name, { call_uuids: calls.uuids, ...contents, headings });
  const search = { sort: DEFAULT_SORT, ...calls.search, ...contents };
  const named = headings === undefined ? {} : { headings: JSON.stringify(headings) };
  return saveFile(url + stringifySearch({ ...search, ...named }), name);
}
