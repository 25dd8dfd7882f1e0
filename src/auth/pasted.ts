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
    return 'this is the address to open; paste the one that the browser ends up at'
  }
  if (!parameters.has('code') && !parameters.has('error')) {
    return 'this is not the address that the browser ended up at: it has no code in it'
  }
  if (!parameters.has('state')) return 'paste the whole address, with the state in it'
  if (!carries(parameters, state)) return 'this address belongs to another sign-in'
  return parameters
}
