import { createRoot } from 'react-dom/client';
import { App } from './app';
import { begin } from './data/session';
import './style.css';

void begin();
createRoot(document.getElementById('root')!).render(<App />);
