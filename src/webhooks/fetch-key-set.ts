const timeoutMs = 5000
const maximumBytes = 256 * 1024

/** The text at an https address: at most 256 KiB within five seconds, without redirects. Throws whatever goes wrong. */
export async function fetchKeySet(url: string): Promise<string> {
  if (new URL(url).protocol !== 'https:') throw new TypeError(`${url} is not an https URL`)
  const response = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok) throw new TypeError(`${url} answered ${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maximumBytes) throw new TypeError(`${url} is larger than ${maximumBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
