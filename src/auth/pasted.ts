import { carries } from './loopback.ts'

/**
 * The parameters of the redirect that somebody pasted, as a whole address or as its query; else a line that says what
 * is wrong with it.
 */
export function readPasted(text: string, state: string): URLSearchParams | string {
  const trimmed = text.trim()
  const query = URL.canParse(trimmed) ? new URL(trimmed).search : trimmed
  const parameters = new URLSearchParams(query)
  if (parameters.has('response_type')) {
    return 'This is the URL to open; paste the final URL of the browser instead'
  }
  if (!parameters.has('code') && !parameters.has('error')) {
    return 'No code found; paste the final URL of the browser'
  }
  if (!parameters.has('state')) return 'Paste the whole URL, including the state'
  if (!carries(parameters, state)) return 'This URL belongs to another sign-in'
  return parameters
}
