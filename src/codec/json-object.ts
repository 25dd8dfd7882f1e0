/** A JSON object as `JSON.parse` makes it. */
export type JsonObject = Record<string, unknown>

/** True for a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
