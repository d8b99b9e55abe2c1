import { useLingui } from '@lingui/react';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { mayLeavePage } from '../drafts/leave-question.tsx';
import { LOCALE_NAMES, LOCALES, type Locale, storeLocale } from '../i18n/locales.ts';
import { activateLocale } from '../i18n/texts.ts';
import { signOut } from '../session/session.ts';
import { Icon } from '../widgets/icon.tsx';
import { failed } from '../widgets/toasts.tsx';
import { shellTexts } from './shell-texts.ts';
import { applyTheme, storedTheme, type Theme, THEMES } from './theme.ts';

/** The user's language and colours, which the browser remembers, and the way out. */
export function Preferences({ onKeys }: { onKeys: () => void }) {
  const t = shellTexts.use();
  const router = useRouter();
  const leave = async () => {
    if (!(await mayLeavePage())) return;
    await signOut();
    // Whoever signs in next begins at the start.
    await router.navigate({ to: '/', replace: true });
  };
  return (
    <div className="side-foot">
      <LanguageChoice />
      <ThemeChoice />
      <button type="button" className="button button-quiet keys-button" title={t('keys')} onClick={onKeys}>
        <Icon name="help" />
        <span className="side-text">{t('keys')}</span>
      </button>
      <button type="button" className="button button-quiet" title={t('signOut')} onClick={() => void leave()}>
        <Icon name="exit" />
        <span className="side-text">{t('signOut')}</span>
      </button>
    </div>
  );
}

export function LanguageChoice() {
  const t = shellTexts.use();
  const { i18n } = useLingui();
  return (
    <label className="side-choice">
      <Icon name="globe" />
      <span className="visually-hidden">{t('language')}</span>
      <select
        className="input"
        value={i18n.locale}
        onChange={({ target }) => {
          const locale = target.value as Locale;
          activateLocale(locale).then(() => storeLocale(locale), failed);
        }}
      >
        {LOCALES.map((locale) => (
          <option key={locale} value={locale} lang={locale}>
            {LOCALE_NAMES[locale]}
          </option>
        ))}
      </select>
    </label>
  );
}

function ThemeChoice() {
  const t = shellTexts.use();
  const [theme, setTheme] = useState(storedTheme);
  return (
    <label className="side-choice">
      <Icon name="contrast" />
      <span className="visually-hidden">{t('theme')}</span>
      <select
        className="input"
        value={theme}
        onChange={({ target }) => {
          const chosen = target.value as Theme;
          setTheme(chosen);
          applyTheme(chosen);
        }}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {t(`theme.${each}`)}
          </option>
        ))}
      </select>
    </label>
  );
}
