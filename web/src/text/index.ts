// The language and the theme of the page: as the browser and the system say, or as chosen here.
import { useSyncExternalStore } from 'react';
import { en, type Key } from './en';
import { inWords } from './reasons';
import { zh } from './zh';

export type Language = 'en' | 'zh-CN';
export type Theme = 'system' | 'light' | 'dark';

interface Choice {
  language: Language;
  theme: Theme;
  dark: boolean;
}

const system = matchMedia('(prefers-color-scheme: dark)');
const stored = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // storage is switched off
  }
};
const store = (name: string, value: string): void => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds for this page only.
  }
};

export function languageOf(preferred: readonly string[]): Language {
  for (const each of preferred) {
    if (each.toLowerCase().startsWith('zh')) return 'zh-CN';
    if (each.toLowerCase().startsWith('en')) return 'en';
  }
  return 'en';
}

function first(): Choice {
  const language = stored('berth.language');
  const theme = stored('berth.theme');
  return {
    language: language === 'en' || language === 'zh-CN' ? language : languageOf(navigator.languages),
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    dark: false,
  };
}

let choice = first();
const listeners = new Set<() => void>();

function apply(patch: Partial<Choice>): void {
  choice = { ...choice, ...patch };
  choice.dark = choice.theme === 'dark' || (choice.theme === 'system' && system.matches);
  document.documentElement.lang = choice.language;
  document.documentElement.dataset.theme = choice.dark ? 'dark' : 'light';
  for (const listener of [...listeners]) listener();
}

system.addEventListener('change', () => apply({}));
apply({});

export function setLanguage(language: Language): void {
  store('berth.language', language);
  apply({ language });
}

export function setTheme(theme: Theme): void {
  store('berth.theme', theme);
  apply({ theme });
}

export function useChoice(): Choice {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => choice,
  );
}

export type Say = (key: Key, values?: Record<string, string | number>) => string;

export function fill(text: string, values: Record<string, string | number> = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

// `said`: a word of the API in the language of the page.
export function useText(): { t: Say; said: (word: string) => string; language: Language; dark: boolean } {
  const { language, dark } = useChoice();
  const words = language === 'en' ? en : zh;
  return { t: (key, values) => fill(words[key], values), said: (word) => inWords(word, language), language, dark };
}
export type { Key };
