import { useLingui } from '@lingui/react';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { mayLeavePage } from '../drafts/leave-question.ts';
import { LOCALE_NAMES, LOCALES, type Locale, storeLocale } from '../i18n/locales.ts';
import { activateLocale, shellTexts } from '../i18n/texts.ts';
import { signOut } from '../session/session.ts';
import { failed } from '../widgets/actions.tsx';
import { Button, Select } from '../widgets/controls.tsx';
import { Icon } from '../widgets/icon.tsx';
import { applyTheme, storedTheme, THEMES } from './theme.ts';

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
      <Button icon="help" kind="quiet" className="keys-button" title={t('keys')} onClick={onKeys}>
        <span className="side-text">{t('keys')}</span>
      </Button>
      <Button icon="exit" kind="quiet" title={t('signOut')} onClick={() => void leave()}>
        <span className="side-text">{t('signOut')}</span>
      </Button>
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
      <Select
        options={THEMES}
        nameOf={(each) => t(`theme.${each}`)}
        value={theme}
        onChoose={(chosen) => {
          setTheme(chosen);
          applyTheme(chosen);
        }}
      />
    </label>
  );
}
