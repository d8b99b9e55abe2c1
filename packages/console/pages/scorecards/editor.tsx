import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, send } from '../../api/client.ts';
import { saving } from '../../api/query-client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { useDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { NEW_QUESTION, type Scorecard, type Section, withItem } from './draft.ts';
import { QuestionEditor } from './question-editor.tsx';
import { scorecardsTexts } from './texts.ts';
import { TrialDialog } from './trial/trial-dialog.tsx';

/** What is changed, and the revision that it was changed from. */
interface Draft {
  readonly name: string;
  readonly sections: readonly Section[];
  readonly changedRevision: number;
}

/** A scorecard as it may be changed. Saving makes a new revision; the old ones stay. */
export function Editor({ scorecard }: { scorecard: Scorecard }) {
  const t = scorecardsTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isTrying, setTrying] = useState(false);
  const { uuid, segment_type, revision } = scorecard;
  const draft = useDraft<Draft>(`scorecard ${uuid}`, {
    name: scorecard.name,
    sections: scorecard.sections,
    changedRevision: revision,
  });
  const { isChanged } = draft;
  const { name, sections, changedRevision } = draft.value;
  const setName = (next: string) => draft.set({ ...draft.value, name: next });
  const setSections = (next: readonly Section[]) => draft.set({ ...draft.value, sections: next });
  const params = { path: { uuid } };

  const show = async (saved: Scorecard, text: string) => {
    draft.discard();
    client.setQueryData(['scorecards', saved.uuid], saved);
    await client.invalidateQueries({ queryKey: ['scorecards', 'list'] });
    done(text);
  };
  const body = { name, segment_type, sections: [...sections] };
  const save = useMutation({
    ...saving,
    mutationFn: async () => {
      const header = { 'If-Match': `"${changedRevision}"` };
      const saved = await send(api.PUT('/api/v1/scorecards/{uuid}', { params: { ...params, header }, body }));
      await show(saved, t('saved'));
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
  const activate = useMutation({
    mutationFn: async () => {
      // Only a scorecard without changes is activated, so none is discarded.
      await show(await send(api.POST('/api/v1/scorecards/{uuid}/activate', { params })), t('activated'));
    },
    onError: failed,
  });
  const change = (at: number, section: Section | null) => setSections(withItem(sections, at, section));

  return (
    <form
      className="scorecards-part"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className="card card-body scorecards-row">
        <Field label={t('name')} className="scorecards-wide">
          <input className="input" required value={name} onChange={({ target }) => setName(target.value)} />
        </Field>
        <span className="muted">
          {t('revision', { revision: format.number(revision) })} · {format.dateTime(scorecard.updated_at)} ·{' '}
          <span className="foreign">{segment_type ?? t('anySegment')}</span>
        </span>
        <span className="scorecards-row">
          <button type="submit" className="button button-primary" disabled={!isChanged || isSaving}>
            {shell('save')}
          </button>
          {isChanged && (
            <button
              type="button"
              className="button"
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
            </button>
          )}
          <button type="button" className="button" disabled={isSaving} onClick={() => copy.mutate()}>
            <Icon name="copy" />
            {t('copy')}
          </button>
          <button type="button" className="button" onClick={() => setTrying(true)}>
            <Icon name="play" />
            {t('trial')}
          </button>
          {!scorecard.is_active && (
            <button
              type="button"
              className="button"
              disabled={isChanged || activate.isPending}
              onClick={() => activate.mutate()}
            >
              <Icon name="check" />
              {t('activate')}
            </button>
          )}
        </span>
      </div>
      {isTrying && <TrialDialog scorecard={scorecard} draft={{ name, sections }} onClose={() => setTrying(false)} />}
      {fault !== null && <Fault error={fault} />}
      {sections.map((section, at) => (
        // A section has no identity but its place.
        // oxlint-disable-next-line react/no-array-index-key
        <fieldset key={at} className="card card-body scorecards-section">
          <legend className="visually-hidden">{section.name}</legend>
          <div className="scorecards-row">
            <Field label={t('section')} className="scorecards-wide">
              <input
                className="input"
                required
                value={section.name}
                onChange={({ target }) => change(at, { ...section, name: target.value })}
              />
            </Field>
            <button type="button" className="button button-quiet" onClick={() => change(at, null)}>
              <Icon name="trash" />
              {t('removeSection')}
            </button>
          </div>
          {section.questions.map((question, index) => (
            <QuestionEditor
              // A new question has no uuid until it is saved.
              key={question.uuid ?? `new-${index}`}
              question={question}
              onChange={(next) => change(at, { ...section, questions: withItem(section.questions, index, next) })}
            />
          ))}
          <button
            type="button"
            className="button scorecards-add"
            onClick={() => change(at, { ...section, questions: [...section.questions, NEW_QUESTION] })}
          >
            <Icon name="plus" />
            {t('addQuestion')}
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        className="button scorecards-add"
        onClick={() => setSections([...sections, { name: '', questions: [NEW_QUESTION] }])}
      >
        <Icon name="plus" />
        {t('addSection')}
      </button>
    </form>
  );
}
