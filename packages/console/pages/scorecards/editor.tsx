import { ApiError } from '@call-analysis/client/errors';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, send } from '../../api/client.ts';
import { saving } from '../../api/connection.ts';
import { useDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useSession } from '../../session/session.ts';
import { done, useAction } from '../../widgets/actions.tsx';
import { Button, TextField, Form } from '../../widgets/controls.tsx';
import { Fault } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { scorecardsTexts } from '../texts.ts';
import { Changes } from './changes.tsx';
import { type Difference, isSavedAs, NEW_QUESTION, type Scorecard, type Section, withItem } from './draft.ts';
import { QuestionEditor } from './question-editor.tsx';
import { TrialDialog } from './trial/trial-dialog.tsx';

/** A scorecard as it may be changed. Saving makes a new revision; the old ones stay. */
export function Editor({ scorecard }: { scorecard: Scorecard }) {
  const t = scorecardsTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const { userUuid } = useSession();
  const navigate = useNavigate();
  const [isTrying, setTrying] = useState(false);
  const { uuid, segment_type, revision } = scorecard;
  const draft = useDraft(`scorecard ${uuid}`, {
    name: scorecard.name,
    sections: scorecard.sections,
    // The revision that it was changed from.
    changedRevision: revision,
  });
  const { isChanged } = draft;
  const { name, sections, changedRevision } = draft.value;
  const setName = (next: string) => draft.set({ ...draft.value, name: next });
  const setSections = (next: Section[]) => draft.set({ ...draft.value, sections: next });
  const params = { path: { uuid } };

  const show = async (saved: Scorecard, text: string) => {
    draft.discard();
    client.setQueryData(['scorecards', saved.uuid], saved);
    await client.invalidateQueries({ queryKey: ['scorecards', 'list'] });
    done(text);
  };
  const body = { name, segment_type, sections };
  /** What was saved by a request whose answer was lost. Throws where another revision is in the way. */
  const savedBefore = async (error: unknown) => {
    if (conflictOf(error)?.by !== userUuid) throw error;
    const newest = await send(api.GET('/api/v1/scorecards/{uuid}', { params }));
    if (!isSavedAs({ name, sections }, { name: newest.name, sections: newest.sections })) throw error;
    return newest;
  };
  const save = useMutation({
    ...saving,
    mutationFn: async () => {
      const header = { 'If-Match': `"${changedRevision}"` };
      await show(
        await send(api.PUT('/api/v1/scorecards/{uuid}', { params: { ...params, header }, body })).catch(savedBefore),
        t('saved'),
      );
    },
  });
  // Not sent again by itself: a copy that was made and not answered would be made twice.
  const copy = useMutation({
    mutationFn: async () => {
      const copied = sections.map((section) => ({
        ...section,
        questions: section.questions.map(({ text, weight, choices, decided }) => ({ text, weight, choices, decided })),
      }));
      const created = await send(api.POST('/api/v1/scorecards', { body: { ...body, sections: copied } }));
      await show(created, t('copied'));
      await navigate({ to: '/scorecards', search: { uuid: created.uuid } });
    },
  });
  const isSaving = save.isPending || copy.isPending;
  const fault = save.error ?? copy.error;
  const conflict = conflictOf(fault);
  const activate = useAction(async () =>
    // Only a scorecard without changes is activated, so none is discarded.
    show(await send(api.POST('/api/v1/scorecards/{uuid}/activate', { params })), t('activated')),
  );
  const change = (at: number, section: Section | null) => setSections(withItem(sections, at, section));

  return (
    <Form
      className="stack"
      onSend={() => save.mutate()}
      // A field that the browser cannot show keeps it from sending, without a word.
      onInvalidCapture={({ target }) => (target as Element).closest('details')?.setAttribute('open', '')}
    >
      <div className="card card-body row scorecards-row">
        <TextField label={t('name')} fieldClass="scorecards-wide" required value={name} onText={setName} />
        <span className="muted">
          {t('revision', { revision: format.number(revision) })} · {format.dateTime(scorecard.updated_at)} ·{' '}
          <span className="foreign">{segment_type ?? t('anySegment')}</span>
        </span>
        <span className="row scorecards-row">
          <Button kind="primary" isSubmit disabled={!isChanged || isSaving}>
            {shell('save')}
          </Button>
          {isChanged && (
            <Button
              disabled={isSaving}
              onClick={() => {
                draft.discard();
                save.reset();
                copy.reset();
                // Where another person has saved a revision meanwhile, it is shown now.
                void client.invalidateQueries({ queryKey: ['scorecards', uuid] });
              }}
            >
              {shell('leave.discard')}
            </Button>
          )}
          <Button icon="copy" disabled={isSaving} onClick={() => copy.mutate()}>
            {t('copy')}
          </Button>
          <Button icon="play" onClick={() => setTrying(true)}>
            {t('trial')}
          </Button>
          {!scorecard.is_active && (
            <Button icon="check" disabled={isChanged || activate.isPending} onClick={() => activate.mutate()}>
              {t('activate')}
            </Button>
          )}
        </span>
      </div>
      {isTrying && <TrialDialog scorecard={scorecard} draft={{ name, sections }} onClose={() => setTrying(false)} />}
      {fault !== null && <Fault error={fault} />}
      {conflict !== null && <Conflicting conflict={conflict} />}
      {sections.map((section, at) => (
        // A section has no identity but its place.
        // oxlint-disable-next-line react/no-array-index-key
        <fieldset key={at} className="card card-body stack scorecards-section">
          <legend className="visually-hidden">{section.name}</legend>
          <div className="row scorecards-row">
            <TextField
              label={t('section')}
              fieldClass="scorecards-wide"
              required
              value={section.name}
              onText={(text) => change(at, { ...section, name: text })}
            />
            <Button icon="trash" kind="quiet" onClick={() => change(at, null)}>
              {t('removeSection')}
            </Button>
          </div>
          {section.questions.map((question, index) => (
            <QuestionEditor
              // A new question has no uuid until it is saved.
              key={question.uuid ?? `new-${index}`}
              question={question}
              onChange={(next) => change(at, { ...section, questions: withItem(section.questions, index, next) })}
            />
          ))}
          <Button
            icon="plus"
            className="scorecards-add"
            onClick={() => change(at, { ...section, questions: [...section.questions, NEW_QUESTION] })}
          >
            {t('addQuestion')}
          </Button>
        </fieldset>
      ))}
      <Button
        icon="plus"
        className="scorecards-add"
        onClick={() => setSections([...sections, { name: '', questions: [NEW_QUESTION] }])}
      >
        {t('addSection')}
      </Button>
    </Form>
  );
}

/** A revision that was saved since the one that was changed. */
interface Conflict {
  readonly revision: number;
  readonly by: string | null;
  readonly at: string;
  readonly questions: readonly { readonly text: string; readonly change: Difference['kind'] }[];
}

function conflictOf(error: unknown): Conflict | null {
  const isConflict = error instanceof ApiError && error.code === 'REVISION_CONFLICT';
  return isConflict ? (error.details as unknown as Conflict) : null;
}

function Conflicting({ conflict: { revision, by, at, questions } }: { conflict: Conflict }) {
  const t = scorecardsTexts.use();
  const nameOf = usePersonName();
  return (
    <div role="group" aria-label={t('changes')}>
      <p>
        {t('revision', { revision: format.number(revision) })} · {format.dateTime(at)}
        {by !== null && <span className="foreign"> · {nameOf(by)}</span>}
      </p>
      <Changes of={questions.map(({ text, change }) => ({ text, kind: change }))} />
    </div>
  );
}
