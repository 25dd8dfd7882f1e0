/**
 * What the log says of an encryption key that is missing or another one, LF included; nothing where it is right.
 *
 * @param trouble why stored secrets cannot be opened, a sentence
 */
export function encryptionText(trouble: string | undefined, forPeople: boolean): string {
  if (trouble === undefined) return ''
  if (forPeople) return `${trouble}\n`
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), encryption: trouble })}\n`
}
