import { type KeyboardEvent, useRef, useState } from 'react';
import { type Person, usePeople } from '../../../widgets/people.ts';
import { callTexts } from '../../texts.ts';
import { nameBeingTyped, peopleCalled } from './mentions.ts';

const SHOWN = 6;

interface Props {
  readonly label: string;
  readonly value: string;
  readonly maxLength: number;
  readonly onChange: (value: string) => void;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
}

/** A field for a comment that offers people after an `@`. Enter takes the first of them. */
export function MentionField({ label, value, maxLength, onChange, onSubmit, onCancel }: Props) {
  const t = callTexts.use();
  const people = usePeople();
  const field = useRef<HTMLTextAreaElement>(null);
  const [cursor, setCursor] = useState(value.length);
  const typed = nameBeingTyped(value, cursor);
  const offered = typed === null ? [] : peopleCalled(typed, people).slice(0, SHOWN);
  const isComplete = offered.some(({ name }) => name === typed);
  const pick = ({ name }: Person) => {
    const start = cursor - typed!.length;
    const before = `${value.slice(0, start)}${name} `;
    onChange(before + value.slice(cursor));
    setCursor(before.length);
    field.current?.focus();
    // The new text is in the field with the next frame.
    requestAnimationFrame(() => field.current?.setSelectionRange(before.length, before.length));
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
    else if (event.key === 'Enter' && offered.length > 0 && !isComplete) {
      event.preventDefault();
      pick(offered[0]!);
    }
    if (event.key === 'Escape') {
      // The same key press would close the question.
      event.preventDefault();
      onCancel();
    }
  };
  return (
    <>
      <textarea
        ref={field}
        className="input"
        // The user has just asked to write.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        maxLength={maxLength}
        aria-label={label}
        placeholder={t('mention.hint')}
        value={value}
        onChange={({ target }) => {
          setCursor(target.selectionStart);
          onChange(target.value);
        }}
        onSelect={({ currentTarget }) => setCursor(currentTarget.selectionStart)}
        onKeyDown={press}
      />
      <div role="status" className="visually-hidden">
        {offered.length > 0 && !isComplete ? t('mention.offered', { name: offered[0]!.name }) : ''}
      </div>
      {offered.length > 0 && !isComplete && (
        <div className="mention-people" role="group" aria-label={t('mention.people')}>
          {offered.map((person) => (
            <button key={person.uuid} type="button" className="chip foreign" onClick={() => pick(person)}>
              {person.name}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
