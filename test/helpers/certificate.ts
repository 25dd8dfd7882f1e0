import { generateKeyPairSync, sign } from 'node:crypto'

/** A self-signed certificate and its private key, both PEM. */
export interface SelfSigned {
  readonly cert: string
  readonly key: string
}

/** Encodes a DER value (X.690 §8.1): tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const size = [...Buffer.from(body.length.toString(16).padStart(4, '0'), 'hex')]
  const length = body.length < 128 ? [body.length] : [0x82, ...size]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const text = (value: string) => der(0x0c, Buffer.from(value))
const time = (day: string) => der(0x18, Buffer.from(`${day.replaceAll('-', '')}000000Z`))

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
const commonName = objectId('550403')
const subjectAltName = objectId('551d11')

/** Makes a certificate for a host and 127.0.0.1 (RFC 5280 §4.1), valid between two days. */
export function makeCertificate(from = '2020-01-01', to = '2120-01-01', host = 'localhost'): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const name = sequence(der(0x31, sequence(commonName, text(host))))
  const names = sequence(der(0x82, Buffer.from(host)), der(0x87, Buffer.from([127, 0, 0, 1])))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time(from), time(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(subjectAltName, der(0x04, names)))),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const base64 =
    sequence(body, ecdsaWithSha256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...base64, '-----END CERTIFICATE-----', ''].join('\n'),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}
