package content_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

const emptyPassword = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

func rc4With(key, in []byte) []byte {
	c, _ := rc4.NewCipher(key)
	out := make([]byte, len(in))
	c.XORKeyStream(out, in)
	return out
}

// aesWith encrypts as PDF does: the first block is the vector.
func aesWith(key, in []byte) []byte {
	pad := aes.BlockSize - len(in)%aes.BlockSize
	in = append(bytes.Clone(in), bytes.Repeat([]byte{byte(pad)}, pad)...)
	block, _ := aes.NewCipher(key)
	iv := []byte("0123456789abcdef")
	out := make([]byte, len(in))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, in)
	return append(iv, out...)
}

// hash2B is the hash of ISO 32000-2, algorithm 2.B, for a user's password.
func hash2B(password string, k []byte) []byte {
	for round := 1; ; round++ {
		var e []byte
		for range 64 {
			e = append(append(e, password...), k...)
		}
		block, _ := aes.NewCipher(k[:16])
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		switch new(big.Int).Mod(new(big.Int).SetBytes(e[:16]), big.NewInt(3)).Int64() {
		case 0:
			sum := sha256.Sum256(e)
			k = sum[:]
		case 1:
			sum := sha512.Sum384(e)
			k = sum[:]
		default:
			sum := sha512.Sum512(e)
			k = sum[:]
		}
		if round >= 64 && int(e[len(e)-1]) <= round-32 {
			return k[:32]
		}
	}
}

// encrypted makes a file of one page that is encrypted with a password, "" for the one that
// viewers try by themselves.
func encrypted(revision int, password string) []byte {
	owner, id := strings.Repeat("o", 32), "0123456789abcdef"
	padded := (password + emptyPassword)[:32]
	var key, user, userKey []byte
	length := map[int]int{2: 5, 3: 16, 4: 16}[revision]
	if revision < 5 {
		sum := md5.Sum([]byte(padded + owner + "\xfc\xff\xff\xff" + id))
		if revision >= 3 {
			for range 50 {
				sum = md5.Sum(sum[:length])
			}
		}
		key = bytes.Clone(sum[:length])
		if revision == 2 {
			user = rc4With(key, []byte(emptyPassword))
		} else {
			check := md5.Sum([]byte(emptyPassword + id))
			user = check[:]
			for i := range 20 {
				turned := bytes.Clone(key)
				for k := range turned {
					turned[k] ^= byte(i)
				}
				user = rc4With(turned, user)
			}
			user = append(user, make([]byte, 16)...)
		}
	} else {
		key = []byte("a file key of thirty-two bytes!!")
		hash := func(salt string) []byte {
			sum := sha256.Sum256([]byte(password + salt))
			if revision == 6 {
				return hash2B(password, sum[:])
			}
			return sum[:]
		}
		user = append(hash("validate"), "validatekey salt"...)
		block, _ := aes.NewCipher(hash("key salt"))
		userKey = make([]byte, 32)
		cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(userKey, key)
	}
	seal := func(n int, in string) string {
		if revision >= 5 {
			return string(aesWith(key, []byte(in)))
		}
		salted := append(bytes.Clone(key), byte(n), byte(n>>8), 0, 0, 0)
		if revision == 4 {
			salted = append(salted, "sAlT"...)
		}
		sum := md5.Sum(salted)
		if own := sum[:min(len(key)+5, 16)]; revision == 4 {
			return string(aesWith(own, []byte(in)))
		} else {
			return string(rc4With(own, []byte(in)))
		}
	}
	filters := map[int]string{2: "/V 1 /R 2", 3: "/V 2 /R 3 /Length 128", 4: "/V 4 /R 4 /CF << /StdCF << /CFM /AESV2 >> >> /StmF /StdCF /StrF /StdCF",
		5: "/V 5 /R 5 /CF << /StdCF << /CFM /AESV3 >> >> /StmF /StdCF /StrF /StdCF /UE <" + hex.EncodeToString(userKey) + ">"}[min(revision, 5)]
	if revision == 6 {
		filters = strings.Replace(filters, "/R 5", "/R 6", 1)
	}
	page := seal(4, "BT /F1 12 Tf 72 700 Td (A secret that anybody may read) Tj ET")
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(page), page), "<< /Title <" + hex.EncodeToString([]byte(seal(5, "Of lamps"))) + "> >>",
		"<< /Filter /Standard " + filters + " /P -4 /O <" + hex.EncodeToString([]byte(owner)) + "> /U <" + hex.EncodeToString(user) + "> >>"} {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "trailer << /Root 1 0 R /Info 5 0 R /Encrypt 6 0 R /ID [<%x> <%x>] >>\n%%%%EOF", id, id)
	return b.Bytes()
}

// TestPDFWithoutPassword reads files that are encrypted and open without a password, and refuses
// those that do not.
func TestPDFWithoutPassword(t *testing.T) {
	for _, revision := range []int{2, 3, 4, 5, 6} {
		doc, err := content.Markdown(context.Background(), encrypted(revision, ""), content.KindPDF, nil)
		if err != nil || !strings.Contains(doc.Markdown, "A secret that anybody may read") || doc.Title != "Of lamps" {
			t.Errorf("revision %d: %v, %+v", revision, err, doc)
		}
		if _, err := content.Markdown(context.Background(), encrypted(revision, "open sesame"), content.KindPDF, nil); !errors.Is(err, content.ErrEncrypted) {
			t.Errorf("revision %d with a password: %v, want ErrEncrypted", revision, err)
		}
	}
}
