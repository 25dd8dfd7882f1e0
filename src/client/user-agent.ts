import { version } from '../contract/version.ts'

/** Value of the User-Agent header (RFC 9110 §10.1.5): `learnctl/1.2.3 (linux; node 24.1.0)`. */
export const userAgent = `learnctl/${version} (${process.platform}; node ${process.versions.node})`
