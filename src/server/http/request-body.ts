import { ProblemError } from '../problem/problem-error.ts'
import { parseJson } from './json.ts'

const maximumBytes = 1024 * 1024

/** A body as it came and as it reads. */
export interface RequestBody {
  readonly bytes: Uint8Array
  readonly value: unknown
}

const nothing: RequestBody = { bytes: new Uint8Array(), value: undefined }

/** Reads a JSON body of at most 1 MiB; throws 413, 415 and 400. */
export async function readJsonBody(request: Request, merge: boolean): Promise<RequestBody> {
  requireType(request, merge ? ['application/json', 'application/merge-patch+json'] : ['application/json'])
  const bytes = await readBytes(request)
  return { bytes, value: parseJson(bytes) }
}

/** Reads the fields of a form (application/x-www-form-urlencoded) of at most 1 MiB; throws 413 and 415. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  requireType(request, ['application/x-www-form-urlencoded'])
  return new URLSearchParams(Buffer.from(await readBytes(request)).toString())
}

/** Reads and drops a body that the operation has no use for; it may be empty or any JSON object. */
export async function readNoBody(request: Request): Promise<RequestBody> {
  if (request.method === 'GET' || request.method === 'HEAD') return nothing
  return { bytes: await readBytes(request), value: undefined }
}

function requireType({ headers }: Request, [wanted = '', ...others]: readonly string[]): void {
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== undefined && [wanted, ...others].includes(type)) return
  const what = type ? `is ${type}` : 'is missing'
  throw new ProblemError('unsupported_media_type', `The Content-Type ${what}; send ${wanted}.`, {
    headers: { 'accept-post': wanted },
  })
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > maximumBytes) throw tooLarge()
    // Node's parser reads no more than what was declared.
    return declared === '0' ? nothing.bytes : new Uint8Array(await request.arrayBuffer())
  }
  if (!request.body) return nothing.bytes
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maximumBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(): ProblemError {
  return new ProblemError('content_too_large', `The body has more than ${maximumBytes} bytes.`, {
    headers: { connection: 'close' },
  })
}
