import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/codec/json-text.ts'
import type { EventSettings } from '../../src/lms/event.ts'

/** Returns the text of a sample by file name. */
export function sampleText(name: string): string {
  return readFileSync(join(import.meta.dirname, 'samples', `${name}.json`), 'utf8')
}

/** Returns a sample payload with changes at paths such as `body.score`; undefined removes a member. */
export function sample(name: string, changes: Readonly<Record<string, unknown>> = {}): JsonObject {
  const body = JSON.parse(sampleText(name)) as JsonObject
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    const parent = names.reduce((inside, member) => inside[member] as JsonObject, body)
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return body
}

/** An integration without settings for items. */
export const plainSettings: EventSettings = { gradeItems: {}, defaultGradeMaximum: 100 }

/** A key pair like Canvas's: the private key, and the published key set. */
export function keyPair(kid: string): { readonly privateKey: JsonObject; readonly keySet: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    privateKey: { ...privateKey.export({ format: 'jwk' }), kid },
    keySet: JSON.stringify({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }],
    }),
  }
}
