package content

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// pdfCrypt decrypts a file that opens without a password: its owner restricted what a viewer
// offers, and any viewer shows it (ISO 32000-2, 7.6: the standard security handler, revisions 2 to 6).
type pdfCrypt struct {
	key              []byte
	strings, streams pdfCipher
}

type pdfCipher int

const (
	pdfNoCipher pdfCipher = iota
	pdfRC4
	pdfAES128 // AESV2: a key for each object
	pdfAES256 // AESV3
)

// pdfPad stands for an empty password.
const pdfPad = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// openCrypt reads the encryption dictionary. The error is ErrEncrypted where a password is needed.
func (f *pdfFile) openCrypt() (*pdfCrypt, error) {
	refused := fmt.Errorf("PDF document: %w", ErrEncrypted)
	d := f.dict(f.trailer["Encrypt"])
	version, revision := f.integer(d["V"]), f.integer(d["R"])
	if f.name(d["Filter"]) != "Standard" {
		return nil, refused
	}
	c := &pdfCrypt{strings: pdfRC4, streams: pdfRC4}
	length := 5
	switch version {
	case 1:
	case 2:
		length = f.integer(d["Length"]) / 8
	case 4, 5:
		c.strings, c.streams = f.cipher(d, "StrF"), f.cipher(d, "StmF")
		length = 16
	default:
		return nil, refused
	}
	user, _ := f.resolve(d["U"]).(pdfString)
	if len(user) < 32 || length < 5 || length > 16 {
		return nil, refused
	}
	if revision >= 5 {
		userKey, _ := f.resolve(d["UE"]).(pdfString)
		c.key = pdfKey256([]byte(user), []byte(userKey), revision)
	} else {
		c.key = f.key128(d, []byte(user), revision, length)
	}
	if c.key == nil {
		return nil, refused
	}
	return c, nil
}

// cipher is what a crypt filter does.
func (f *pdfFile) cipher(d pdfDict, which pdfName) pdfCipher {
	filter := f.dict(f.dict(d["CF"])[pdfName(f.name(d[which]))])
	switch f.name(filter["CFM"]) {
	case "V2":
		return pdfRC4
	case "AESV2":
		return pdfAES128
	case "AESV3":
		return pdfAES256
	}
	return pdfNoCipher
}

// key128 is the key of an empty password up to revision 4, nil if that is not the password.
func (f *pdfFile) key128(d pdfDict, user []byte, revision, length int) []byte {
	owner, _ := f.resolve(d["O"]).(pdfString)
	var id pdfString
	if ids := f.array(f.trailer["ID"]); len(ids) > 0 {
		id, _ = f.resolve(ids[0]).(pdfString)
	}
	if len(owner) < 32 {
		return nil
	}
	in := append([]byte(pdfPad), owner[:32]...)
	in = binary.LittleEndian.AppendUint32(in, uint32(int64(f.number(d["P"]))))
	in = append(in, id...)
	if revision >= 4 && d["EncryptMetadata"] == pdfWord("false") {
		in = append(in, 0xff, 0xff, 0xff, 0xff)
	}
	sum := md5.Sum(in)
	if revision == 2 {
		key := sum[:5]
		if bytes.Equal(rc4Of(key, []byte(pdfPad)), user[:32]) {
			return key
		}
		return nil
	}
	for range 50 {
		sum = md5.Sum(sum[:length])
	}
	key := bytes.Clone(sum[:length])
	check := md5.Sum(append([]byte(pdfPad), id...))
	out := check[:]
	for i := range 20 {
		turned := bytes.Clone(key)
		for k := range turned {
			turned[k] ^= byte(i)
		}
		out = rc4Of(turned, out)
	}
	if !bytes.Equal(out, user[:16]) {
		return nil
	}
	return key
}

// pdfKey256 is the key of an empty password from revision 5 on, nil if that is not the password.
func pdfKey256(user, userKey []byte, revision int) []byte {
	if len(user) < 48 || len(userKey) != 32 {
		return nil
	}
	hash := func(salt []byte) []byte {
		sum := sha256.Sum256(salt)
		if revision == 5 {
			return sum[:]
		}
		return pdfHash(sum[:])
	}
	if !bytes.Equal(hash(user[32:40]), user[:32]) {
		return nil
	}
	block, err := aes.NewCipher(hash(user[40:48]))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, userKey)
	return key
}

// pdfHash is algorithm 2.B of ISO 32000-2 for an empty password.
func pdfHash(k []byte) []byte {
	for i, last := 0, byte(0); i < 64 || int(last) > i-32; i++ {
		in := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(in, in)
		rest := 0
		for _, c := range in[:16] { // a big number's remainder: 256 leaves one
			rest += int(c)
		}
		switch rest % 3 {
		case 0:
			sum := sha256.Sum256(in)
			k = sum[:]
		case 1:
			sum := sha512.Sum384(in)
			k = sum[:]
		default:
			sum := sha512.Sum512(in)
			k = sum[:]
		}
		last = in[len(in)-1]
	}
	return k[:32]
}

func rc4Of(key, in []byte) []byte {
	out := make([]byte, len(in))
	if c, err := rc4.NewCipher(key); err == nil {
		c.XORKeyStream(out, in)
	}
	return out
}

// open decrypts the strings and the stream of object n.
func (c *pdfCrypt) open(n int, o any, depth int) any {
	if depth > maxPDFDepth {
		return o
	}
	switch x := o.(type) {
	case pdfString:
		return pdfString(c.decrypt(n, c.strings, []byte(x)))
	case pdfArray:
		for i := range x {
			x[i] = c.open(n, x[i], depth+1)
		}
	case pdfDict:
		for k := range x {
			x[k] = c.open(n, x[k], depth+1)
		}
	case *pdfStream:
		if x.dict["Type"] == pdfName("XRef") {
			return x
		}
		c.open(n, x.dict, depth+1)
		x.raw = c.decrypt(n, c.streams, x.raw)
	}
	return o
}

// decrypt decrypts bytes of object n, whose generation is 0 as in all files that are written anew
// when they are encrypted.
func (c *pdfCrypt) decrypt(n int, how pdfCipher, in []byte) []byte {
	key := c.key
	if how == pdfRC4 || how == pdfAES128 {
		salted := append(bytes.Clone(key), byte(n), byte(n>>8), byte(n>>16), 0, 0)
		if how == pdfAES128 {
			salted = append(salted, "sAlT"...)
		}
		sum := md5.Sum(salted)
		key = sum[:min(len(c.key)+5, 16)]
	}
	switch how {
	case pdfNoCipher:
		return in
	case pdfRC4:
		return rc4Of(key, in)
	}
	const size = aes.BlockSize
	block, err := aes.NewCipher(key)
	if err != nil || len(in) < 2*size {
		return nil
	}
	in = in[:len(in)-len(in)%size]
	out := make([]byte, len(in)-size)
	cipher.NewCBCDecrypter(block, in[:size]).CryptBlocks(out, in[size:])
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= size {
		out = out[:len(out)-pad]
	}
	return out
}
