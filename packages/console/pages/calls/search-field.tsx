import { useEffect, useState } from 'react';
import { Icon } from '../../widgets/icon.tsx';
import { callsTexts } from '../texts.ts';

const TYPING_MS = 300;

/** Searches the words of conversations when the user stops typing. */
export function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = callsTexts.use();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    // The service refuses a search without a word.
    if (typed.trim() === value || (typed.trim() !== '' && !/[\p{L}\p{N}]/u.test(typed))) return;
    const timer = setTimeout(() => onChange(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="calls-search" role="search">
      <Icon name="search" />
      <input
        type="search"
        className="input"
        maxLength={255}
        value={typed}
        placeholder={t('search')}
        aria-label={t('search')}
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  );
}
