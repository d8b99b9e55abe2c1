import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { shellTexts } from '../../i18n/texts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { type Page, useFound } from './use-found.ts';

/** Goes to any page, call, operator or view by a few letters: a combobox over what is found. */
export default function FindDialog({ pages, onClose }: { pages: readonly Page[]; onClose: () => void }) {
  const t = shellTexts.use();
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const { found, isSearching } = useFound(typed, pages);
  const chosen = found[Math.min(at, found.length - 1)];
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const open = (item: (typeof found)[number] | undefined) => {
    if (item === undefined) return;
    onClose();
    item.open();
  };
  const press = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined && found.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, found.length - 1) + move + found.length) % found.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      open(chosen);
    }
  };
  const optionId = (key: string) => `${id} ${key}`.replaceAll(/\s+/g, '-');
  return (
    <Dialog title={t('find')} onClose={onClose}>
      <div className="find-field">
        <Icon name="search" />
        <input
          className="input"
          type="text"
          // The user has just asked to type.
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          role="combobox"
          aria-expanded={found.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={chosen === undefined ? undefined : optionId(chosen.key)}
          aria-label={t('find.what')}
          placeholder={t('find.what')}
          maxLength={255}
          autoComplete="off"
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
      </div>
      <ul id={id} className="find-list" role="listbox" aria-label={t('find')} ref={list}>
        {found.map((item) => (
          // Keys act on the field.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={item.key}
            id={optionId(item.key)}
            role="option"
            aria-selected={item === chosen}
            className="popup-item"
            onClick={() => open(item)}
          >
            <Icon name={item.icon} />
            <span className="foreign">{item.name}</span>
            {item.hint !== undefined && <span className="count">{item.hint}</span>}
          </li>
        ))}
      </ul>
      <p className="muted" role="status">
        {found.length === 0 && !isSearching ? t('find.none') : ''}
      </p>
    </Dialog>
  );
}
