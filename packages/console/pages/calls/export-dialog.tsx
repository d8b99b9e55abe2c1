import { useMutation, useQuery } from '@tanstack/react-query';
import { get, saveFile } from '../../api/client.ts';
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
    mutationFn: (text: (name: string) => string) => {
      const url = `${SERVICE_URL}/api/v1/calls/export`;
      const name = `calls.${text('format')}`;
      const headings = text('names') === 'own' ? ownHeadings() : undefined;
      const contents = {
        format: text('format'),
        // Its times are those that are shown.
        tz: timeZone(),
        questions: text('questions') || undefined,
        transcripts: text('transcripts') === '' ? undefined : true,
      };
      if ('uuids' in calls) return saveFile(url, name, { call_uuids: calls.uuids, ...contents, headings });
      const search = { sort: DEFAULT_SORT, ...calls.search, ...contents };
      return saveFile(url + stringifySearch({ ...search, headings: JSON.stringify(headings) }), name);
    },
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

/** The names of the file's columns in the user's language, by those of the API. Some are those of the table's columns. */
function ownHeadings(): Record<string, string> {
  const named = (prefix: string) =>
    callsTexts.codes(prefix).map((code) => [code, callsTexts.inWords(prefix, code)] as const);
  return Object.fromEntries([...named('column.'), ...named('heading.')]);
}
