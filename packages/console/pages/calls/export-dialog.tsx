import { useMutation, useQuery } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import { stringifySearch } from '../../api/search-params.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useMay, SERVICE_URL } from '../../session/session.ts';
import { Button, Check, Form, SelectField } from '../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/page.tsx';
import { callsTexts } from '../texts.ts';
import { type CallSearch, DEFAULT_SORT } from './call-search.ts';

const FORMATS: Readonly<Record<string, string>> = {
  csv: 'CSV',
  xlsx: 'Excel',
  ndjson: 'JSON Lines',
  parquet: 'Parquet',
};
const NAMES = ['own', 'api'] as const;

/** The exported calls: those of the filters, or calls by uuid. */
export type Exported = { readonly search: CallSearch } | { readonly uuids: readonly string[] };

/** What goes into the file beside the calls' own fields. */
interface Contents {
  readonly format: string;
  /** The scorecard whose questions get a column each; empty for none. */
  readonly questions: string;
  readonly transcripts: boolean;
  /** The columns' names. Absent: those of the API. */
  readonly headings: Readonly<Record<string, string>> | undefined;
}

/** Downloads calls, with what the user chooses. */
export default function ExportDialog({ calls, onClose }: { calls: Exported; onClose: () => void }) {
  const t = callsTexts.use();
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
  const save = useMutation({
    mutationFn: (text: (name: string) => string) =>
      download(calls, {
        format: text('format'),
        questions: text('questions'),
        transcripts: text('transcripts') !== '',
        headings: text('names') === 'own' ? headings() : undefined,
      }),
    onSuccess: onClose,
  });
  return (
    <Dialog title={t('uuids' in calls ? 'exportSelected' : 'export')} onClose={onClose}>
      <Form className="form filter-form" onSend={save.mutate}>
        <SelectField
          label={t('export.format')}
          name="format"
          options={Object.keys(FORMATS)}
          nameOf={(format) => FORMATS[format]!}
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
        {save.isError && <Fault error={save.error} />}
        <DialogActions onClose={onClose}>
          <Button kind="primary" isSubmit disabled={save.isPending}>
            {t(save.isPending ? 'exporting' : 'export')}
          </Button>
        </DialogActions>
      </Form>
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
    ...(questions !== '' && { questions }),
    ...(transcripts && { transcripts }),
  };
  if ('uuids' in calls) return saveFile(url, name, { call_uuids: calls.uuids, ...contents, headings });
  const search = { sort: DEFAULT_SORT, ...calls.search, ...contents };
  const named = headings === undefined ? {} : { headings: JSON.stringify(headings) };
  return saveFile(url + stringifySearch({ ...search, ...named }), name);
}
