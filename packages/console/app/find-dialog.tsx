import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import * as format from '../i18n/format.ts';
import { shellTexts } from '../i18n/texts.ts';
import { callSearch, type CallSearch } from '../pages/calls/call-search.ts';
import { nearest } from '../pages/calls/elsewhere/nearest.ts';
import { UUID, useMeant } from '../pages/calls/elsewhere/searched-elsewhere.tsx';
import { useViews } from '../pages/calls/views/views.tsx';
import { Dialog } from '../widgets/dialog.tsx';
import { Icon, type IconName } from '../widgets/icon.tsx';

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

interface Page {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
}

interface Found {
  readonly key: string;
  readonly icon: IconName;
  readonly name: string;
  readonly hint?: string;
  readonly open: () => void;
}

const TYPING_MS = 200;
/** Operators, and views. */
const MOST = 5;

/** What a person may mean: pages, calls by id or number, operators, views, and words of conversations. */
function useFound(typed: string, pages: readonly Page[]): { found: readonly Found[]; isSearching: boolean } {
  const t = shellTexts.use();
  const navigate = useNavigate();
  const text = typed.trim();
  // Only what is asked of the service waits for a pause: Enter may follow the last letter at once.
  const asked = useSettled(text);
  const views = useViews();
  const { digits, byNumber, byId, operators } = useMeant(text, asked, MOST);
  const foundPages = nearest(text, pages, ({ name }) => name).map(({ to, name, icon }): Found => ({
    key: `page ${to}`,
    icon,
    name,
    open: () => void navigate({ to }),
  }));
  if (text === '') return { found: foundPages, isSearching: false };
  const list = (
    icon: IconName,
    kind: 'number' | 'view' | 'operator' | 'words',
    name: string,
    search: CallSearch,
    hint?: number,
  ): Found => ({
    key: `${kind} ${name}`,
    icon,
    name: t(`find.${kind}`, { [kind === 'number' || kind === 'words' ? kind : 'name']: name }),
    ...(hint !== undefined && { hint: format.number(hint) }),
    open: () => void navigate({ to: '/calls', search }),
  });
  const call = (uuid: string, hint?: string): Found => ({
    key: `call ${uuid}`,
    icon: 'calls',
    name: t('find.call', { id: text }),
    ...(hint !== undefined && { hint }),
    open: () => void navigate({ to: '/calls/$uuid', params: { uuid } }),
  });
  const isSettled = asked === text;
  const found: Found[] = [
    ...(UUID.test(text) ? [call(text.toLowerCase())] : []),
    ...(isSettled ? byId.items.map(({ uuid, operator_name }) => call(uuid, operator_name)) : []),
    ...(isSettled && byNumber.count > 0
      ? [list('calls', 'number', text, { client_phone_number: digits }, byNumber.count)]
      : []),
    ...foundPages,
    ...nearest(text, views.data ?? [], ({ name }) => name)
      .slice(0, MOST)
      .map((view) => list('star', 'view', view.name, callSearch(view.query))),
    ...operators.map(({ name, calls }) => list('person', 'operator', name, { operator_name: name }, calls)),
    // The service refuses a search without a word.
    ...(/[\p{L}\p{N}]/u.test(text) ? [list('search', 'words', text, { q: text })] : []),
  ];
  return { found, isSearching: !isSettled || byId.isFetching || byNumber.isFetching };
}

/** What was typed, once the person pauses. */
function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return typed === '' ? '' : settled;
}
