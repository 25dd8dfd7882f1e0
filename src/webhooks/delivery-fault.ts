/** Why a delivery is not taken. */
export type DeliveryFaultCode =
  | 'invalid_signature'
  | 'timestamp_out_of_range'
  | 'malformed_payload'
  | 'keys_unavailable'

/**
 * A delivery that is not taken. `invalid_signature` and `timestamp_out_of_range` are answered with 401,
 * `malformed_payload` (only of what is authentic) with 400, and `keys_unavailable`, where the keys of the sender could not
 * be fetched, with 503. The message is a sentence for whoever runs the server or the sender; no secret is in it.
 */
export class DeliveryFault extends Error {
  override readonly name = 'DeliveryFault'
  readonly code: DeliveryFaultCode

  constructor(code: DeliveryFaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** What throws where a payload is not what its sender's system sends. */
export function malformed(message: string, cause?: unknown): DeliveryFault {
  return new DeliveryFault('malformed_payload', message, { cause })
}

/** What throws where a delivery does not prove who sent it. */
export function unproved(message: string, cause?: unknown): DeliveryFault {
  return new DeliveryFault('invalid_signature', message, { cause })
}
