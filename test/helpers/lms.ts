import type { JsonObject } from '../../src/codec/json-text.ts'
import type { LmsKind } from '../../src/contract/constants.ts'
import type { SignedDelivery } from '../../src/lms/delivery.ts'
import { sign } from '../../src/lms/verify.ts'
import { keyPair } from '../lms/samples.ts'
import type { Answer, Person, TestAcademy } from './test-academy.ts'

/** Webhook secret of the tests; it protects nothing. */
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const account = 'VicYj3cu5BIFpoZhDVU4DZumnlBrWi1grgJEzADs'
let pair: ReturnType<typeof keyPair> | undefined

/** Sets up the integration of a system. */
export async function connect(academy: TestAcademy, admin: Person, kind: LmsKind, settings: JsonObject = {}) {
  pair ??= keyPair('2026-01')
  const { privateKey, keySet } = pair
  const own =
    kind === 'canvas'
      ? { rootAccountUuid: account, jwks: JSON.parse(keySet) as JsonObject }
      : { webhookSecrets: [webhookSecret] }
  const made = await admin.put(`/v1/integrations/${kind}`, { ...own, ...settings })
  if (made.status !== 200) throw new Error(made.text)
  const secret = kind === 'canvas' ? { privateKey } : webhookSecret
  /** Signs a payload as this system does, with this id if its scheme has one. */
  const signed = (payload: JsonObject, id = 'msg_1') =>
    sign(kind, payload, { secret, now: academy.clock.now().getTime(), id })
  const send = (
    { headers, query, body }: SignedDelivery,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const search = new URLSearchParams(query).toString()
    const path = `/webhooks/${kind}/grades${search === '' ? '' : `?${search}`}`
    return academy
      .bearer(undefined)
      .send('POST', path, body, { ...headers, ...more } as Record<string, string>)
  }
  return {
    kind,
    signed,
    send,
    deliver: async (payload: JsonObject, id?: string) => send(await signed(payload, id)),
    /** Maps a course or user of this system to one of the academy. */
    map: (noun: 'course' | 'user', externalKey: string, reference: string) =>
      admin.put(`/v1/integrations/${kind}/mappings`, { noun, externalKey, reference }),
  }
}
