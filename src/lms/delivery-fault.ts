/** Reasons to refuse a delivery. */
export type DeliveryFaultCode =
  | 'invalid_signature'
  | 'timestamp_out_of_range'
  | 'malformed_payload'
  | 'keys_unavailable'

/**
 * A refused delivery: 401 for `invalid_signature` and `timestamp_out_of_range`, 400 for `malformed_payload`
 * (only of authentic deliveries), and 503 for `keys_unavailable`, if the sender's keys could not be fetched.
 * The message is a sentence for the administrator of the server or the sender and contains no secret.
 */
export class DeliveryFault extends Error {
  override readonly name = 'DeliveryFault'
  readonly code: DeliveryFaultCode

  constructor(code: DeliveryFaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Returns the fault of a payload that the sender's system does not send. */
export function malformedPayload(message: string, cause?: unknown): DeliveryFault {
  return new DeliveryFault('malformed_payload', message, { cause })
}

/** Returns the fault of a delivery that is not authentic. */
export function invalidSignature(message: string, cause?: unknown): DeliveryFault {
  return new DeliveryFault('invalid_signature', message, { cause })
}
