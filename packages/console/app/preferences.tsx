import { useLingui } from '@lingui/react';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { firmQuery } from '../api/client.ts';
import { mayLeavePage } from '../drafts/drafts.ts';
import { LOCALE_NAMES, LOCALES, type Locale, storeLocale } from '../i18n/locales.ts';
import { activateLocale, shellTexts } from '../i18n/texts.ts';
import { chooseZone, setFirmZone, useShownZone } from '../i18n/zone/zone.ts';
import { signOut } from '../session/session.ts';
import { failed, notDone } from '../widgets/actions.tsx';
import { Button, Check, Select } from '../widgets/controls.tsx';
import { Dialog, DialogActions } from '../widgets/dialog.tsx';
import { Icon } from '../widgets/icon.tsx';
import { FIND_KEYS, useKeyLists, useLetterKeys } from '../widgets/use-events.ts';
import { applyTheme, THEMES, useTheme } from '../widgets/use-media.ts';

/** The user's language and colours, which the browser remembers, and the way out. */
export function Preferences({ onKeys }: { onKeys: () => void }) {
  const t = shellTexts.use();
  const router = useRouter();
  const leave = async () => {
    if (!(await mayLeavePage())) return;
    if (!(await signOut())) return notDone(t('signOut.failed'));
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
  return (
    <label className="side-choice">
      <Icon name="contrast" />
      <span className="visually-hidden">{t('theme')}</span>
      <Select options={THEMES} nameOf={(each) => t(`theme.${each}`)} value={useTheme()} onChoose={applyTheme} />
    </label>
  );
}

/** The firm's time zone, in which times are shown from then on unless the person has chosen another. */
export function useFirmZone(): string | undefined {
  const firmZone = useQuery(firmQuery).data?.time_zone;
  useEffect(() => {
    if (firmZone !== undefined) setFirmZone(firmZone);
  }, [firmZone]);
  return firmZone;
}

/** Names the time zone of the page, once, and lets the person choose another. */
export function ZoneChoice({ firmZone }: { firmZone: string | undefined }) {
  const t = shellTexts.use();
  const zone = useShownZone();
  // Four hundred options take longer to draw than the rest of a page.
  const [isChoosing, setChoosing] = useState(false);
  const zones = [firmZone ?? zone, zone, ...(isChoosing ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : [])];
  return (
    <footer className="zone">
      <span className="print-only">
        {t('zone')} {zone}
      </span>
      <label>
        <span>{t('zone')}</span>
        <Select
          options={[...new Set(zones)]}
          nameOf={(each) => (each === firmZone ? t('zone.firm', { zone: each }) : each)}
          value={zone}
          onFocus={() => setChoosing(true)}
          onChoose={(chosen) => chooseZone(chosen === firmZone ? null : chosen)}
        />
      </label>
    </footer>
  );
}

/** The keys of the page and of every page, and the switch for single characters. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = shellTexts.use();
  const lists = useKeyLists();
  const [areOn, turn] = useLetterKeys();
  const everywhere = [
    ['/', t('keys.search')],
    [FIND_KEYS, t('find')],
    ['?', t('keys.help')],
  ] as const;
  return (
    <Dialog title={t('keys')} onClose={onClose}>
      {[...lists.map(({ list }) => list), everywhere].map((list, at) => (
        // The lists do not change while the dialog covers the page.
        // oxlint-disable-next-line react/no-array-index-key
        <dl key={at} className="keys">
          {list.map(([key, text]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      ))}
      <Check checked={areOn} onTick={turn}>
        {t('keys.letters')}
      </Check>
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}
