import type { JsonObject } from '../codec/json-object.ts'
import type { HttpHeaders } from '../contract/http.ts'

/** A delivery as it came. */
export interface Delivery {
  readonly headers: HttpHeaders
  readonly query: URLSearchParams
  /** At most 256 KiB, which whoever receives it has seen to. */
  readonly rawBody: Uint8Array
}

/** The public keys of a sender, by the `kid` of each. */
export interface SigningKeys {
  /** The key as a JWK (RFC 7517); null where none has this id. Throws DeliveryFault `keys_unavailable`. */
  find(kid: string): Promise<JsonObject | null>
}

/** What an integration takes as proof. */
export interface Trust {
  /** The webhook secrets that count now: two while one takes the place of the other. */
  readonly secrets: readonly string[]
  /** The Canvas account whose events are taken; without it none that Canvas has signed. */
  readonly rootAccountUuid: string | null
  /** The keys that Canvas signs with; null where none are set. */
  readonly keys: SigningKeys | null
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A delivery that is authentic. */
export interface Verified {
  /** Tells a delivery from all others of its kind; sent again it is the same. At most 300 characters. */
  readonly key: string
  /** The payload without any secret. Its large integers are bigints: jsonText in src/codec writes them. */
  readonly body: JsonObject
}

/** What the headers of Standard Webhooks say beside the signature. */
export interface Sending {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly id: string
}

/** What the signer of a delivery has at hand. */
export interface SigningMaterial extends Sending {
  /** The secret shared with the integration, or for a signed JWT the private key as a JWK. */
  readonly secret: string | { readonly privateKey: JsonObject }
}

/** A delivery as its sender sends it, to be added to the address. */
export interface SignedDelivery {
  readonly headers: HttpHeaders
  readonly query: Readonly<Record<string, string>>
  readonly body: string
}
