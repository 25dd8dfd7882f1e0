import { isJsonObject } from '../codec/json-text.ts'
import { parseReference } from '../codec/reference.ts'
import type { Operation } from '../contract/operation.ts'
import type { AnyInput, Result } from './call.ts'
import { ProtocolError } from './errors.ts'
import type { Readers } from './foreign/read-back.ts'
import type { References } from './foreign/references.ts'
import { bareResult } from './reply.ts'

/** A platform to write to. */
interface WrittenPlatform extends Pick<Readers, 'pages'> {
  readonly call: (operation: Operation, input: AnyInput) => Promise<Result<unknown>>
  readonly host: string
  /** True if the platform has shown that it is a server of this API. */
  readonly isOurs: () => boolean
}

/** Creates the function behind `Caller.write`. */
export function createWrite({ call, pages, host, isOurs }: WrittenPlatform) {
  let opened: Promise<References> | null = null

  /** Returns the input as a platform of any style takes it. */
  async function prepareInput(operation: Operation, input: AnyInput): Promise<AnyInput> {
    if (isOurs() || !['POST', 'PUT'].includes(operation.method) || !needsReads(input)) return input
    const { createReferences, prepareWrite } = await import('./foreign/references.ts')
    opened ??= Promise.resolve(createReferences(host, call))
    return prepareWrite(await opened, operation, input)
  }

  return async (operation: Operation, input: AnyInput): Promise<Result<unknown>> => {
    const sent = await prepareInput(operation, input)
    try {
      return await call(operation, sent)
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'not_shown') throw error
      const { readBack } = await import('./foreign/read-back.ts')
      const found = await readBack({ read: call, pages }, operation, sent, error)
      if (found === null) throw error
      const { record, written } = found
      const id = record[operation.identifier ?? 'id']
      return { ...bareResult, data: record, written, id: id === undefined ? null : String(id) }
    }
  }
}

/** True for input with a version, or with a reference that is not an id. */
function needsReads({ params = {}, body, ifMatch }: AnyInput): boolean {
  const values = [...Object.values(params), ...Object.values(isJsonObject(body) ? body : {})]
  const isReference = (value: unknown) => typeof value === 'string' && parseReference(value).by !== 'id'
  return ifMatch !== undefined || values.some(isReference)
}
