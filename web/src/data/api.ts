// Requests to the server that are not streams.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

let onUnauthorized: () => void = () => {};
export function whenUnauthorized(handle: () => void): void {
  onUnauthorized = handle;
}

async function answer<T>(response: Response, signIn: boolean): Promise<T> {
  if (response.status === 204) return undefined as T;
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    throw new ApiError(response.status, 'BadAnswer', response.statusText || `HTTP ${response.status}`);
  }
  if (response.ok) return body as T;
  const { message = `HTTP ${response.status}`, reason = '' } = body as { message?: string; reason?: string };
  if (response.status === 401 && !signIn) onUnauthorized();
  throw new ApiError(response.status, reason, message);
}

async function send<T>(url: string, init: RequestInit, signIn = false): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...init });
  } catch (error) {
    throw new ApiError(0, 'Unreachable', error instanceof Error ? error.message : String(error));
  }
  return answer<T>(response, signIn);
}

export function get<T>(url: string, signal?: AbortSignal): Promise<T> {
  return send<T>(url, { signal });
}

export function post<T>(url: string, body: unknown, signIn = false): Promise<T> {
  return send<T>(
    url,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Berth-Console': '1' },
      body: JSON.stringify(body),
    },
    signIn,
  );
}

// "/api/object" + {name: "a b"} -> "/api/object?name=a%20b"; what is undefined or empty is left out.
export function url(path: string, query: Record<string, string | number | undefined>): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return parts.length > 0 ? `${path}?${parts.join('&')}` : path;
}
